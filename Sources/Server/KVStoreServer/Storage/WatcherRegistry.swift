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
    /// The place of the loop among those of the engine.
    package let index: Int
    private var watchers: [StoreID: [ObjectIdentifier: any Watcher]] = [:]
    private let total = Atomic(0)
    private let observerCount = Atomic(0)
    private var notifyInterest: ((StoreID, _ isWatched: Bool) -> Void)?

    package init(_ loop: any EventLoop, index: Int) {
        self.loop = loop
        self.index = index
    }

    /// Calls `notify` on the loop when the first reader of a store has come and the last one has gone. Call it before
    /// there are any.
    package func observeInterest(_ notify: @escaping (StoreID, _ isWatched: Bool) -> Void) {
        notifyInterest = notify
    }

    /// From any thread.
    package var count: Int { total.load(ordering: .sequentiallyConsistent) }

    /// Those of connections. From any thread.
    var streamCount: Int { count - observerCount.load(ordering: .sequentiallyConsistent) }

    func add(_ watcher: any Watcher, to store: StoreID) {
        let former = watchers[store, default: [:]].updateValue(watcher, forKey: ObjectIdentifier(watcher))
        guard former == nil else { return }
        total.add(1, ordering: .sequentiallyConsistent)
        if let notifyInterest, watchers[store]?.count == 1 { notifyInterest(store, true) }
    }

    func remove(_ watcher: any Watcher, from store: StoreID) {
        guard watchers[store]?.removeValue(forKey: ObjectIdentifier(watcher)) != nil else { return }
        total.subtract(1, ordering: .sequentiallyConsistent)
        guard watchers[store]?.isEmpty == true else { return }
        watchers[store] = nil
        notifyInterest?(store, false)
    }

    func add(_ observer: StoreObserver) {
        observerCount.add(1, ordering: .sequentiallyConsistent)
        add(observer, to: observer.store)
    }

    func remove(_ observer: StoreObserver) {
        remove(observer, from: observer.store)
        observerCount.subtract(1, ordering: .sequentiallyConsistent)
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

/// Calls a function on the event loop when a store has durable changes, or devices have changed, until it is cancelled.
package final class StoreObserver: Watcher, Sendable {
    let store: StoreID
    private let watchers: WatcherRegistry
    private let notify: @Sendable () -> Void

    init(_ store: StoreID, on watchers: WatcherRegistry, _ notify: @escaping @Sendable () -> Void) {
        self.store = store
        self.watchers = watchers
        self.notify = notify
        watchers.loop.execute { watchers.add(self) }
    }

    package func wake() { notify() }

    /// Call it once, from any thread.
    package func cancel() { watchers.loop.execute { [self] in watchers.remove(self) } }
}
