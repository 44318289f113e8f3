import ArgumentParser
import Commands
import Essentials
import KVStoreHTTP

/// The items of a history in the order of the list, and how commands name them.
struct HistoryList {
    let history: ClipHistory
    let settings: ClipSettings
    let keys: [ItemKey]

    init(_ history: ClipHistory, _ settings: ClipSettings) {
        self.history = history
        self.settings = settings
        keys = history.sorted(by: settings.order, pins: settings.pins)
    }

    func title(of key: ItemKey) -> String {
        guard let item = history.items[key] else { return "" }
        let title = ItemTitle.title(of: item, symbols: settings.showsSymbols)
        return title.isEmpty ? ItemLabel.description(of: item) : title
    }

    /// The item that a reference names.
    func key(_ reference: ItemReference) throws(CommandFailure) -> ItemKey {
        switch reference {
        case .number(let number):
            guard keys.indices.contains(number - 1) else {
                throw CommandFailure(.failure, "there is no item \(number); the history has \(keys.count)")
            }
            return keys[number - 1]
        case .pin(let letter):
            guard let key = history.pinned(letter) else {
                throw CommandFailure(.failure, "no item is pinned as \(letter.character)")
            }
            return key
        case .identifier(let text):
            let found = keys.filter { $0.name.dropFirst(2).hasPrefix(text) }
            guard let key = found.first, found.count == 1 else {
                throw CommandFailure(
                    .failure,
                    found.isEmpty ? "no item has the id \(text)" : "\(found.count) items have ids that begin so")
            }
            return key
        }
    }
}

/// What an item is called on a command line.
enum ItemReference {
    /// The position in the list, from 1.
    case number(Int)
    case pin(PinLetter)
    /// The id, or its beginning: at least four characters.
    case identifier(String)

    /// - Parameter text: "-" for a line of a list on standard input, which begins with the reference.
    init(_ text: String) throws(CommandFailure) {
        var text = text
        if text == "-" {
            let line = String(decoding: try InputOutput.readInput(byteCount: 65_536), as: UTF8.self)
            text = String(line.prefix { !$0.isWhitespace })
        }
        if text.count == 1, let letter = text.first.flatMap(PinLetter.init) {
            self = .pin(letter)
        } else if text.count <= 4, let number = Int(text) {
            self = .number(number)
        } else if (4...22).contains(text.count) {
            self = .identifier(text)
        } else {
            throw CommandFailure(.usage, "'\(text)' is neither a number of the list nor an id nor a letter of a pin")
        }
    }

    static let help: ArgumentHelp = """
        Its number in the list, its id, the beginning of that, or the letter of a pin; '-' reads a line \
        of the list from standard input.
        """
}

extension Int {
    /// "1 item", "2 items".
    var items: String { self == 1 ? "1 item" : "\(self) items" }
}

extension ItemKey {
    /// The part of the name that differs.
    var identifier: String { String(name.dropFirst(2)) }
}

/// What a list says of an item. Not escaped.
struct ItemLabel: Equatable, Sendable {
    /// Whether the text is the title, in which a search finds something.
    let isTitle: Bool
    let text: String
    /// What else there is to know before it is selected.
    let note: String

    /// - Parameter isHere: whether this machine has the contents.
    init(of item: ClipItem, title: String, isHere: Bool) {
        let device = item.origin.device
        isTitle = !title.isEmpty
        if isTitle {
            text = title
            note = isHere ? "" : "on \(device) only"
        } else {
            text = Self.description(of: item) + " on \(device)" + (isHere ? "" : " only")
            note = ""
        }
    }

    /// What stands for an item without text: "image PNG 640×480, 12 KB".
    static func description(of item: ClipItem) -> String {
        let stub = item.stub
        let size = byteCount(stub.byteCount)
        guard let image = stub.parts.first(where: { $0.type.kind == .image }) else {
            return stub.parts.map(\.type.rawValue).joined(separator: ", ") + ", \(size)"
        }
        let format = image.type.rawValue.split(separator: "/").last?.uppercased() ?? ""
        let dimensions = stub.imageSize.map { " \($0.width)×\($0.height)" } ?? ""
        return "image \(format)\(dimensions), \(size)"
    }

    static func byteCount(_ count: UInt64) -> String {
        switch count {
        case ..<1_000: "\(count) B"
        case ..<1_000_000: "\(count / 1_000) KB"
        default: "\(count / 1_000_000).\(count / 100_000 % 10) MB"
        }
    }
}

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

    var exchange: Exchange { Exchange(store: store) }
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
        let references = try references.map(ItemReference.init)
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
