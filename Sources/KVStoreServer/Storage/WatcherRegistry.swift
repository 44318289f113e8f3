import KVStoreCore

/// A live reader of a store, which continues from its own cursor.
protocol Watcher: AnyObject {
    /// The store has durable changes that it may not have read.
    func wake()
}

/// The live readers of each store. On the event loop only.
final class WatcherRegistry {
    private var watchers: [StoreID: [ObjectIdentifier: any Watcher]] = [:]

    var count: Int { watchers.values.reduce(0) { $0 + $1.count } }

    func add(_ watcher: any Watcher, to store: StoreID) {
        watchers[store, default: [:]][ObjectIdentifier(watcher)] = watcher
    }

    func remove(_ watcher: any Watcher, from store: StoreID) {
        watchers[store]?[ObjectIdentifier(watcher)] = nil
        if watchers[store]?.isEmpty == true { watchers[store] = nil }
    }

    func wake(_ stores: some Sequence<StoreID>) {
        guard !watchers.isEmpty else { return }
        for store in stores {
            guard let woken = watchers[store]?.values else { continue }
            for watcher in woken { watcher.wake() }
        }
    }

    func wakeAll() { wake(Array(watchers.keys)) }
}
