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

    /// Those that are listed; the rules have a command of their own.
    static var table: [Setting<ClipSettings>] {
        [
            .choice("searchMode", \.searchMode),
            .choice("sortBy", \.order),
            .choice("pinTo", \.pins),
            .choice("highlightMatch", \.highlight),
            .number("historySize", \.size, HistoryLimits.sizes, " items that are not pinned"),
            .choice("expire", \.expiry, "; of items that are not pinned, after the last copy"),
            .flag("showSpecialSymbols", \.showsSymbols, "·, ⏎ and ⇥ in titles"),
            .list(
                "ignoredTypes", \.ignoredTypes, "a JSON array of types by which programs mark what is not to be kept"),
        ]
    }

    static var ignoreRules: Setting<ClipSettings> { .list("ignoreRules", \.rules, "") }

    /// - Parameter texts: by stored key.
    init(_ texts: [String: String] = [:]) {
        for setting in Self.table + [Self.ignoreRules] {
            texts[Self.prefix + setting.name].map { _ = setting.take(&self, $0) }
        }
    }

    /// The settings of all machines, as this one has received them.
    static func read(_ preferences: SyncedPreferences = SyncedPreferences()) throws(StoreError) -> ClipSettings {
        ClipSettings(try preferences.texts(withPrefix: prefix))
    }

    /// What the history may hold so that it fits into the sealed store, whether it is shared or not.
    var limits: HistoryLimits {
        HistoryLimits(size: size) { encoded in
            // A binary property list adds at most 50 bytes to data.
            SealedStore.sealedByteCount(ofValue: encoded + 50, key: 24)
        }
    }
}
