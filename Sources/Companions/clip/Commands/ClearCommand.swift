import ArgumentParser
import Commands
import Essentials

struct ClearCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear", abstract: "Remove all items that are not pinned.",
        discussion: "On all machines that share the history.")

    @Flag(help: "Pinned ones too.")
    var all = false

    @Flag(help: "Empty the clipboard too.")
    var system = false

    @Flag(help: "Do not ask.")
    var yes = false

    func run() async throws {
        let opened = try OpenedHistory()
        defer { opened.close() }
        try await opened.exchange.beforeReading()
        let items = opened.list.history.items.values
        let pinned = items.count(where: \.isPinned)
        let count = all ? items.count : items.count - pinned
        let isShared = opened.store.state.sharedWith != nil
        Console.report(
            "\(count) of \(items.count.items) will be removed"
                + (all || pinned == 0 ? "" : "; \(pinned) pinned ones stay")
                + (isShared ? ", on all machines that share the history" : ""))
        guard try yes || Console.confirm(verb: "remove them") else { return }
        try await opened.change([]) { history, _ in history.clear(withPins: all) }
        if system { try opened.copier.writer.clear() }
    }
}
