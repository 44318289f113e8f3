public import KVStore

/// The obvious counter: one key that every device increments. Two devices that increment it at the same time both write
/// the same number, the later write wins, and one tap is lost.
public final class SharedTally {
    private let store: any KeyValueStoring

    public init(store: any KeyValueStoring) { self.store = store }

    public var count: Int64 { store.longLong(forKey: "taps") }

    public func tap() { store.set(count + 1, forKey: "taps") }
}

/// A counter that loses nothing: each device writes only its own key, so no write replaces another device's, and the
/// count is the sum.
public final class Tally {
    private static let prefix = "taps."

    private let store: any KeyValueStoring
    private let ownKey: String

    /// - Parameter device: a name unique to this installation. A reinstall needs a new one, since the taps under the
    ///   former name still count.
    public init(store: any KeyValueStoring, device: String) {
        self.store = store
        ownKey = Self.prefix + device
    }

    public var count: Int64 {
        store.dictionaryRepresentation.keys.filter { $0.hasPrefix(Self.prefix) }
            .reduce(0) { $0 + store.longLong(forKey: $1) }
    }

    public func tap() { store.set(store.longLong(forKey: ownKey) + 1, forKey: ownKey) }
}
