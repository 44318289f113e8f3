public import KVStore

/// A counter as it is written first: one key that every device adds to. Two devices that add at the same time both
/// write the same number, the later write wins, and one of the two taps is lost.
public final class SharedTally {
    private let store: any KeyValueStoring

    public init(store: any KeyValueStoring) { self.store = store }

    public var count: Int64 { store.longLong(forKey: "taps") }

    public func tap() { store.set(count + 1, forKey: "taps") }
}

/// A counter that loses nothing: each device writes only its own key, so no write replaces another device's, and what
/// people see is the sum.
public final class Tally {
    private static let prefix = "taps."

    private let store: any KeyValueStoring
    private let ownKey: String

    /// - Parameter device: a name that no other device has and that stays for as long as the installation. After a
    ///   reinstall it has to be another one: the former name's taps are still in the sum.
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
