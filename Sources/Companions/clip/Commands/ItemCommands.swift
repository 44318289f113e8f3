import ArgumentParser
import Commands
import Essentials
import TerminalText

struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Write an item to standard output.",
        discussion: "Bytes are written as they were copied, also to a terminal if --raw is given.")

    @Argument(help: ItemReference.help)
    var item = "1"

    @Option(help: "The representation, as a MIME type.")
    var type: String?

    @Flag(help: "Without formatting: the text of HTML and RTF.")
    var plain = false

    @Flag(help: "Do not make a terminal show what it would hide or obey.")
    var raw = false

    func run() async throws {
        let reference = try ItemReference(item)
        let opened = try OpenedHistory()
        defer { opened.close() }
        // A newer item would change the number of the one that the user has seen.
        if item == "1" { try await opened.exchange.beforeReading() }
        let list = opened.list
        let key = try list.key(reference)
        guard let found = list.history.items[key] else { return }
        let contents = try opened.copier.contents(of: key, found)
        let part = try contents.part(type.map(ContentType.init(rawValue:)), plain: plain, named: type ?? "text")
        var data = part.data
        if plain, [.html, .rtf].contains(part.type.kind) {
            data = Data(ItemTitle.text(of: contents, limit: .max).utf8)
        }
        try write(data, part.type)
    }

    /// Writes bytes as they are, but for a terminal, where text is escaped and anything else refused.
    private func write(_ data: Data, _ type: ContentType) throws {
        guard Console.isOutputTerminal, !raw else { return try Console.write(data) }
        guard type.kind != .image else {
            throw CommandFailure(.usage, "\(type.rawValue) is not for a terminal; redirect the output, or add --raw")
        }
        let text = String(decoding: data, as: UTF8.self)
        for line in VisibleText.escapedLines(text, limit: .max) { try Console.print(line) }
    }
}

struct SelectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "select", abstract: "Copy an item to the clipboard.",
        discussion: """
            Where to is found out: the clipboard of Wayland or X11, tmux, or over SSH that of the terminal \
            (OSC 52). A terminal does not answer, so 'sent' is all that can be said then.

            EXAMPLES
              \(ProgramName.text) list | fzf | \(ProgramName.text) select -
              \(ProgramName.text) list | rofi -dmenu | \(ProgramName.text) select -
            """)

    @Argument(help: ItemReference.help)
    var item: String

    @Option(help: "The representation, as a MIME type.")
    var type: String?

    @Option(help: "Where to: wl, x11, tmux, osc52 or stdout.")
    var to: CopyTarget?

    @Flag(help: "Without formatting.")
    var plain = false

    func run() async throws {
        let reference = try ItemReference(item)
        let opened = try OpenedHistory()
        defer { opened.close() }
        let key = try opened.list.key(reference)
        let report = try opened.copier.copy(key, type: type.map(ContentType.init(rawValue:)), isPlain: plain, to: to)
        if to != .stdout { Console.note(report) }
        try await opened.exchange.afterChange()
    }
}

struct PinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin", abstract: "Keep an item, with a letter that selects it.",
        discussion: "A letter that another item has is taken from it; that item stays pinned.")

    @Argument(help: ItemReference.help)
    var item: String

    @Argument(help: "b to y without q, v and w; by default a free one.")
    var letter: String?

    func validate() throws { _ = try pinLetter }

    private var pinLetter: PinLetter? {
        get throws {
            guard let letter else { return nil }
            guard letter.count == 1, let found = letter.first.flatMap(PinLetter.init) else {
                throw ValidationError("'\(letter)' is no letter for pins: b to y without q, v and w")
            }
            return found
        }
    }

    func run() async throws {
        let opened = try OpenedHistory()
        defer { opened.close() }
        let letter = try pinLetter
        try await opened.change([item]) { history, keys in
            var randomness = SystemRandomNumberGenerator()
            guard let letter else {
                let isPinned = history.items[keys[0]]?.isPinned == true
                return isPinned ? .init() : history.togglePin(keys[0], at: .now, using: &randomness)
            }
            return history.pin(keys[0], letter, at: .now)
        }
    }
}

struct UnpinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "unpin", abstract: "Let an item go as others do.")

    @Argument(help: ItemReference.help)
    var item: String

    func run() async throws {
        let opened = try OpenedHistory()
        defer { opened.close() }
        try await opened.change([item]) { history, keys in
            var randomness = SystemRandomNumberGenerator()
            guard history.items[keys[0]]?.isPinned == true else { return .init() }
            return history.togglePin(keys[0], at: .now, using: &randomness)
        }
    }
}

struct DeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Remove items, on all machines that share the history.")

    @Argument(help: ItemReference.help)
    var items: [String]

    func run() async throws {
        let opened = try OpenedHistory()
        defer { opened.close() }
        try await opened.change(items) { history, keys in history.remove(keys) }
    }
}

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
                + (all || pinned == 0 ? "" : "; \(pinned) pinned \(pinned == 1 ? "one stays" : "ones stay")")
                + (isShared ? ", on all machines that share the history" : ""))
        guard try yes || Console.confirm(verb: "remove them") else { return }
        try await opened.change([]) { history, _ in history.clear(withPins: all) }
        if system { try opened.copier.writer.clear() }
    }
}
