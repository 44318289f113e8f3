import ArgumentParser
import Commands
import Essentials

struct AddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add standard input to the history.",
        discussion: """
            What is ignored, or looks like a secret, is not kept; the reason is reported. \
            With tmux, 'set -s copy-command "\(ProgramName.text) add"' adds what is copied there.
            """)

    @Option(help: "The MIME type of the input.")
    var type = "text/plain"

    @Flag(help: "It is a secret: do not keep it, and count it as skipped.")
    var sensitive = false

    @Flag(help: "Print the id of the item as JSON.")
    var json = false

    private struct Document: Encodable {
        var id: String?
        var outcome: String
        var reason: String?
    }

    func run() async throws {
        let data = try InputOutput.readInput(byteCount: ContentCache.contentsByteLimit)
        let opened = try OpenedHistory()
        defer { opened.close() }
        let recorder = opened.recorder
        let former = opened.store.state.dropped ?? [:]
        let outcome = try recorder.record(
            Offer(state: sensitive ? .sensitive : .data, typeNames: [type], data: [(type, data)]), isClipboard: false)
        switch outcome {
        case .skipped, .full: break
        case .added, .counted, .copiedOut: try await opened.exchange.afterChange()
        }
        var lost = HistoryState()
        for (name, count) in opened.store.state.dropped ?? [:]
        where name != HistoryState.droppedElsewhere { lost.countDropped(name, count - (former[name] ?? 0)) }
        for line in lost.droppedText(opened.history.limits) { Console.report(line) }
        if json { try Console.printJSON(Self.document(outcome)) }
        guard let reason = outcome.reason else { return }
        throw CommandFailure(.failure, "not kept: \(reason)")
    }

    private static func document(_ outcome: Recorder.Outcome) -> Document {
        switch outcome {
        case .added(let key): Document(id: key.identifier, outcome: "added")
        case .counted(let key): Document(id: key.identifier, outcome: "counted")
        case .copiedOut: Document(outcome: "copiedOut")
        case .skipped, .full: Document(outcome: "skipped", reason: outcome.reason)
        }
    }
}

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
        guard var offer = try tool.offer(recorder.filter.names) else { return }
        if !offer.data.isEmpty, !offer.data.contains(where: { $0.data == input }) {
            // Data of a type that is not in the list.
            offer.typeNames = []
        }
        offer.state = stated
        _ = try recorder.record(offer)
        try await opened.exchange.afterChange()
    }
}
