import ArgumentParser
import Commands
import Essentials

struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Keep a copy that 'wl-paste --watch' announces.",
        discussion: """
            For configurations that start 'wl-paste --watch \(ProgramName.text) store' themselves; \
            '\(ProgramName.text) collect' needs no other program for that. Standard input is only compared with \
            what the clipboard has: a copy that has changed meanwhile is not kept.
            """)

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        // What there is to compare; the rest of a copy over the limit is not needed.
        let input = try? InputOutput.readInput(byteCount: SourceLimits.byteCount)
        let stated = environment["CLIPBOARD_STATE"].flatMap(Offer.State.init) ?? .unknown
        let opened = try OpenedHistory()
        defer { opened.close() }
        let recorder = opened.recorder
        switch stated {
        // Also when a program has ended, whose copies stay in the history.
        case .nil: return
        case .clear, .sensitive:
            _ = try recorder.record(Offer(state: stated, typeNames: [], data: []))
            return try await opened.exchange.afterChange()
        case .data, .unknown: break
        }
        guard let tool = SelectionTool.wlPaste(environment) else {
            throw CommandFailure(.unavailable, "wl-paste is not installed (package wl-clipboard)")
        }
        let choice = TypeChoice(recorder.device.filter(recorder.settings))
        guard var offer = try tool.offer(choice.names) else { return }
        if !offer.data.isEmpty, !offer.data.contains(where: { $0.data == input }) {
            // Data of a type that is not in the list.
            offer.typeNames = []
        }
        offer.state = stated
        _ = try recorder.record(offer)
        try await opened.exchange.afterChange()
    }
}
