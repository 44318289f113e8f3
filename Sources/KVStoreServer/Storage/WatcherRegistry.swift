package import KVStoreCore
package import NIOCore
import Synchronization

/// A live reader of a store, which continues from its own cursor.
protocol Watcher: AnyObject {
    /// The store has durable changes that it may not have read.
    func wake()
}

/// The live readers of each store on one event loop. On that loop only, except for `count`; unchecked for that reason.
package final class WatcherRegistry: @unchecked Sendable {
    package let loop: any EventLoop
    /// Of the loop among those of the engine.
    let index: Int
    private var watchers: [StoreID: [ObjectIdentifier: any Watcher]] = [:]
    private let total = Atomic(0)

    init(_ loop: any EventLoop, index: Int) {
        self.loop = loop
        self.index = index
    }

    /// Of any thread.
    package var count: Int { total.load(ordering: .sequentiallyConsistent) }

    func add(_ watcher: any Watcher, to store: StoreID) {
        let former = watchers[store, default: [:]].updateValue(
            watcher, forKey: ObjectIdentifier(watcher))
        if former == nil { total.add(1, ordering: .sequentiallyConsistent) }
    }

    func remove(_ watcher: any Watcher, from store: StoreID) {
        guard watchers[store]?.removeValue(forKey: ObjectIdentifier(watcher)) != nil else { return }
        total.subtract(1, ordering: .sequentiallyConsistent)
        if watchers[store]?.isEmpty == true { watchers[store] = nil }
    }

    package func wake(_ stores: some Sequence<StoreID>) {
        guard !watchers.isEmpty else { return }
        for store in stores {
            guard let woken = watchers[store]?.values else { continue }
            for watcher in woken { watcher.wake() }
        }
    }

    func wakeAll() { wake(Array(watchers.keys)) }
}
