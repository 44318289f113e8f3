import ArgumentParser
import Commands
import Essentials
import KVStoreHTTP

/// The history as a command finds it.
struct OpenedHistory {
    let store: HistoryStore
    let settings: ClipSettings
    let device: DeviceSettings

    /// - Parameter isWatched: whether the store delivers changes by other processes.
    init(isWatched: Bool = false) throws {
        let files = ClipFiles()
        settings = try ClipSettings.read(SyncedPreferences(environment: files.environment))
        device = try DeviceSettings.read(files)
        store = try HistoryStore(files, isWatched: isWatched)
    }

    func close() { store.close() }

    var exchange: Exchange { Exchange(store: store, settings: settings) }
    var list: HistoryList { HistoryList(history, settings) }

    /// Without items whose time is over.
    var history: ClipHistory {
        var history = store.history(settings.limits)
        _ = history.expire(settings.expiry, at: .now)
        return history
    }

    var recorder: Recorder { Recorder(store, settings, device) }
    var copier: Copier { Copier(store: store, settings: settings, device: device) }

    /// Changes items that are named by references, and shares the change.
    func change(
        _ references: [String],
        _ change: (inout ClipHistory, [ItemKey]) throws -> ClipHistory.Changes
    ) async throws {
        // Before the lock: standard input may be a list in which somebody chooses.
        let references = try references.map(ItemReference.read)
        try store.change(settings.limits) { history, _ in
            let expired = history.expire(settings.expiry, at: .now)
            let list = HistoryList(history, settings)
            var changes = try change(&history, references.map(list.key))
            changes.formUnion(expired)
            return (changes, ())
        }
        try await exchange.afterChange()
    }
}

extension ItemReference {
    /// - Parameter text: "-" for a line of a list on standard input, which begins with the reference.
    static func read(_ text: String) throws(CommandFailure) -> ItemReference {
        var text = text
        if text == "-" {
            let line = String(decoding: try InputOutput.readInput(byteCount: 65_536), as: UTF8.self)
            text = String(line.prefix { !$0.isWhitespace })
        }
        guard let reference = ItemReference(argument: text) else {
            throw CommandFailure(.usage, "'\(text)' is neither a number of the list nor an id nor a letter of a pin")
        }
        return reference
    }
}

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
        let reference = try ItemReference.read(item)
        let opened = try OpenedHistory()
        defer { opened.close() }
        // A newer item would change the number of the one that the user has seen.
        if item == "1" { try await opened.exchange.beforeReading() }
        let list = opened.list
        let key = try list.key(reference)
        guard let found = list.history.items[key] else { return }
        let contents = try opened.copier.contents(of: key, found)
        guard let part = contents.representation(type.map(ContentType.init(rawValue:)), plain: plain) else {
            throw CommandFailure(
                .failure,
                "it has no \(type ?? "text"); it has " + contents.parts.map(\.type.rawValue).joined(separator: ", "))
        }
        var data = part.data
        if plain, [.html, .rtf].contains(part.type.kind) {
            data = Data(ItemTitle.text(of: contents, limit: .max).utf8)
        }
        try ContentOutput.write(data, type: part.type, isRaw: raw)
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
        let reference = try ItemReference.read(item)
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
