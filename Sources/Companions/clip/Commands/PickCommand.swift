import ArgumentParser
import Commands
import Essentials
import TerminalText

struct PickCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pick",
        abstract: "Choose an item from a list on the whole terminal, and copy it.",
        discussion: """
            Type to search; Enter copies the selected item and leaves, F1 shows all keys. The list follows \
            copies that are made meanwhile. With --to stdout the item is written there, and the list is on the \
            terminal all the same.

            EXAMPLES
              \(ProgramName.text) pick
              \(ProgramName.text) pick --to stdout | wc
              tmux bind-key P display-popup -E '\(ProgramName.text) pick'

            EXIT STATUS
              0 copied · 1 left without copying · 64 no terminal · 74 the history cannot be read
            """)

    @Option(help: "Where to: wl, x11, tmux, osc52 or stdout; by default the first that works here.")
    var to: CopyTarget?

    @Flag(help: "Copy without formatting.")
    var plain = false

    @Option(help: "Use color: auto, always or never. NO_COLOR is respected.")
    var color: ColorPolicy.Choice = .auto

    func run() async throws {
        let opened = try OpenedHistory(isWatched: true)
        defer { opened.close() }
        let former = opened.store.entries()
        let session = try TerminalSession.controlling(advice: "use 'list' and 'select'")
        let environment = ProcessInfo.processInfo.environment
        let copier = opened.copier
        let loop = PickLoop(
            session: session, opened: opened,
            isColored: ColorPolicy.isColored(choice: color, environment: environment, isTerminal: true),
            isUnicode: ColorPolicy.isUnicode(environment: environment), isPlain: plain,
            // Standard output may be the terminal with the list.
            copy: to == .stdout ? nil : { try copier.copy($0, isPlain: $1, to: to) })
        let ending = await loop.run()
        switch ending {
        case .left: break
        case .copied(let report): Console.note(report)
        case .chosen(let key, let isPlain): _ = try copier.copy(key, isPlain: isPlain, to: to)
        }
        if opened.store.entries() != former { try await opened.exchange.afterChange() }
        if case .left = ending { throw ExitCode.failure }
    }
}

extension ColorPolicy.Choice: ExpressibleByArgument {}
