public import KVStore

/// The settings of an app that get first launch wrong: they write their defaults into the store.
///
/// With a store that takes the last write, each new phone resets everybody's theme. `UbiquitousKeyValueStore`
/// lets a default that was written before the first download give way, so most of this mistake does no
/// harm; `resetAfterDownload` is the part from which no store can save an app.
public final class EagerSettings {
    private let store: any KeyValueStoring

    public init(store: any KeyValueStoring) { self.store = store }

    /// At every first launch of an installation.
    public func firstLaunch() { store.set("light", forKey: "theme") }

    /// The same, by an app that waited politely until the download was over, and then did not look.
    public func resetAfterDownload() { firstLaunch() }

    public var theme: String? { store.string(forKey: "theme") }
}

/// The settings done right: a default is what the code says when the store says nothing. Only what a person chose is
/// written, so there is nothing to overwrite the cloud with.
public final class Settings {
    private let store: UbiquitousKeyValueStore

    public init(store: UbiquitousKeyValueStore) { self.store = store }

    public var theme: String {
        get { store.string(forKey: "theme") ?? "light" }
        set { store.set(newValue, forKey: "theme") }
    }

    /// Moves a value that an earlier version kept under another name. It has to be written, and is therefore
    /// written only when the device knows what the cloud holds.
    ///
    /// Call it at launch, and again after a notification with reason 1.
    /// - Returns: whether it is done.
    @discardableResult
    public func migrate() -> Bool {
        guard store.status.initialSyncCompleted else { return false }
        if let old = store.string(forKey: "colours") {
            if store.string(forKey: "theme") == nil { store.set(old, forKey: "theme") }
            store.removeObject(forKey: "colours")
        }
        return true
    }
}
