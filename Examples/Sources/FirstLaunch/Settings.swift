public import KVStore

/// Settings that get first launch wrong: they write their defaults to the store.
///
/// With a plain last-writer-wins store, every new phone resets the theme on all devices. In
/// `UbiquitousKeyValueStore` a default written before the first download gives way, so most of this mistake does no
/// harm; `resetAfterDownload` is the part from which no store can protect an app.
public final class EagerSettings {
    private let store: any KeyValueStoring

    public init(store: any KeyValueStoring) { self.store = store }

    /// Runs at the first launch of every installation.
    public func firstLaunch() { store.set("light", forKey: "theme") }

    /// The same in an app that waits for the first download and then ignores what it brought.
    public func resetAfterDownload() { firstLaunch() }

    public var theme: String? { store.string(forKey: "theme") }
}

/// Settings done right: defaults live in code and apply when the store has no value. Only the user's choices are
/// written, so no default can overwrite the cloud.
public final class Settings {
    private let store: UbiquitousKeyValueStore

    public init(store: UbiquitousKeyValueStore) { self.store = store }

    public var theme: String {
        get { store.string(forKey: "theme") ?? "light" }
        set { store.set(newValue, forKey: "theme") }
    }

    /// Moves a value that an earlier version stored under another key. This has to write, so it waits until the
    /// device knows what the cloud holds.
    ///
    /// Call it at launch, and again after a notification with reason 1.
    /// - Returns: whether the migration is complete.
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
