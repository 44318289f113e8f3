import Essentials
import KVStoreEssentials
import KVStoreSealed
import KVStoreHTTP

/// What the user has chosen for all machines. A value that this version does not know counts as the default, and stays
/// stored.
struct ClipSettings: Equatable, Sendable {
    var searchMode = SearchMode.exact
    var order = ItemOrder.lastCopiedAt
    var pins = PinPlacement.top
    var highlight = HighlightStyle.bold
    var size = HistoryLimits.defaultSize
    var expiry = Expiry.off
    var showsSymbols = true
    /// Regular expressions of texts that are not kept.
    var rules: [String] = []
    var ignoredTypes = IgnoredTypes.editable

    /// Begins the keys in the store for preferences.
    static let prefix = "clip."

    enum Key: String, CaseIterable, Sendable {
        case searchMode, sortBy, pinTo, highlightMatch, historySize, expire, showSpecialSymbols
        case ignoreRules, ignoredTypes

        var storedKey: String { ClipSettings.prefix + rawValue }
    }

    /// - Parameter texts: by stored key.
    init(_ texts: [String: String] = [:]) {
        for key in Key.allCases { texts[key.storedKey].map { _ = set($0, for: key) } }
    }

    /// The settings of all machines, as this one has received them.
    static func read(_ preferences: SyncedPreferences = SyncedPreferences()) throws(StoreError) -> ClipSettings {
        ClipSettings(try preferences.texts(withPrefix: prefix))
    }

    /// Takes the stored text of a setting.
    ///
    /// - Returns: whether it is one.
    mutating func set(_ text: String, for key: Key) -> Bool {
        func take<Value>(_ value: Value?, _ path: WritableKeyPath<Self, Value>) -> Bool {
            guard let value else { return false }
            self[keyPath: path] = value
            return true
        }
        return switch key {
        case .searchMode: take(SearchMode(rawValue: text), \.searchMode)
        case .sortBy: take(ItemOrder(rawValue: text), \.order)
        case .pinTo: take(PinPlacement(rawValue: text), \.pins)
        case .highlightMatch: take(HighlightStyle(rawValue: text), \.highlight)
        case .historySize: take(Int(text).flatMap { HistoryLimits.sizes.contains($0) ? $0 : nil }, \.size)
        case .expire: take(Expiry(rawValue: text), \.expiry)
        case .showSpecialSymbols: take(["on": true, "off": false][text], \.showsSymbols)
        case .ignoreRules: take(Self.list(text), \.rules)
        case .ignoredTypes: take(Self.list(text), \.ignoredTypes)
        }
    }

    /// The text that is stored for a setting.
    func text(of key: Key) -> String {
        switch key {
        case .searchMode: searchMode.rawValue
        case .sortBy: order.rawValue
        case .pinTo: pins.rawValue
        case .highlightMatch: highlight.rawValue
        case .historySize: String(size)
        case .expire: expiry.rawValue
        case .showSpecialSymbols: showsSymbols ? "on" : "off"
        case .ignoreRules: Self.text(rules)
        case .ignoredTypes: Self.text(ignoredTypes)
        }
    }

    /// A list of texts is stored as an array of JSON.
    private static func list(_ text: String) -> [String]? {
        guard text.utf8.count <= 65_536 else { return nil }
        // Nil for a list of a newer version: the default holds.
        return try? JSONDecoder().decode([String].self, from: Data(text.utf8))
    }

    private static func text(_ list: [String]) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return (try? encoder.encode(list)).map { String(decoding: $0, as: UTF8.self) } ?? "[]"  // Texts always can be.
    }
}

extension ClipSettings {
    /// What the history may hold so that it fits into the sealed store, whether it is shared or not.
    var limits: HistoryLimits {
        HistoryLimits(size: size) { encoded in
            // A binary property list adds at most 50 bytes to data.
            SealedStore.sealedByteCount(ofValue: encoded + 50, key: 24)
        }
    }
}
