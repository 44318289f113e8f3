import ArgumentParser
import Commands

struct PauseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "pause", abstract: "Keep no copies until 'resume'.")

    func run() throws { try HistoryState.change { $0.pause.pause() } }
}

struct ResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "resume", abstract: "Keep copies again.")

    func run() throws { try HistoryState.change { $0.pause.resume() } }
}

struct IgnoreNextCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "ignore-next", abstract: "Do not keep the next copy.")

    func run() throws { try HistoryState.change { $0.pause.pause(onlyNext: true) } }
}

extension HistoryState {
    fileprivate static func change(_ change: (inout HistoryState) -> Void) throws {
        let store = try HistoryStore()
        defer { store.close() }
        try store.exclusively { _, state in change(&state) }
    }
}
