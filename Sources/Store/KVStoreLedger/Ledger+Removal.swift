package import KVStoreCore
package import KVStoreLog

/// Creating and removing stores.
extension Ledger {
    /// Removes a store with all its records; returns whether there was one. Readers find an empty store from then on,
    /// after which they start over, so that what it held is dropped everywhere and what they have not sent yet is kept.
    ///
    /// What remains is a state, so that a store created again under the name continues the history. An account's
    /// removals are forgotten beyond `removalCount`, the oldest first; after a start, those whose frame is oldest. To a
    /// reader from before such a removal the records are lost, and it sends them again.
    package func remove(_ id: StoreID) throws(LogError) -> Bool {
        guard let store = present(id) else { return false }
        let former = store.hub.entries.values
        let positions = store.positions.values
        try append([.removed(id, store.hub.state.removing(beginning: newEpochID(for: id)))], of: store)
        for position in positions { liveFrames.move(from: position, to: nil) }
        for entry in former {
            liveFrameByteCount -= LedgerEntry.frameByteCount(entry, of: id)
            memory.add(-Self.memoryByteCount(of: entry.record), account: id.account)
        }
        let others = storesByAccount[id.account, default: []].filter { $0 != id }
        storesByAccount[id.account] = others.isEmpty ? nil : others
        storeCount -= 1
        let scope = scope(of: id)
        removals[scope, default: RemovalQueue()].append(id)
        while let forgotten = removals[scope]?.popFirst(keeping: options.removalCount) {
            forgetRemoval(of: forgotten)
        }
        return true
    }

    private func forgetRemoval(of id: StoreID) {
        guard let store = stores.removeValue(forKey: id) else { return }
        liveFrames.move(from: store.statePosition, to: nil)
        liveFrameByteCount -= LedgerEntry.frameByteCount(store.hub.state, of: id)
    }

    /// Notes the removals that the log remembers, in the order of their frames.
    func recordRemovals() {
        let removed = stores.values.filter(\.isRemoved).compactMap { store in
            store.statePosition.map { (position: $0, id: store.id) }
        }
        for (_, id) in removed.sorted(by: { $0.position < $1.position }) {
            removals[scope(of: id), default: RemovalQueue()].append(id)
        }
    }

    func create(_ id: StoreID) throws(LogError) -> Store {
        // After a removal, sequence numbers go on.
        let store = stores[id] ?? Store(id)
        try append([.state(id, store.hub.state.beginning(newEpochID(for: id)))], of: store)
        removals[scope(of: id)]?.remove(id)
        storesByAccount[id.account, default: []].append(id)
        storeCount += 1
        return store
    }

    func present(_ id: StoreID) -> Store? {
        stores[id].flatMap { $0.isRemoved ? nil : $0 }
    }
}

/// Removed stores in the order of their removal. Each operation takes constant time on average.
struct RemovalQueue {
    private var numbers: [StoreID: UInt64] = [:]
    /// Also stores that were created again, whose number `numbers` does not have.
    private var order: [(id: StoreID, number: UInt64)] = []
    private var first = 0
    private var lastNumber: UInt64 = 0

    mutating func append(_ id: StoreID) {
        if order.count > 2 * numbers.count + 16 {
            order = order.filter { numbers[$0.id] == $0.number }
            first = 0
        }
        lastNumber += 1
        numbers[id] = lastNumber
        order.append((id, lastNumber))
    }

    /// A store was created again.
    mutating func remove(_ id: StoreID) { numbers[id] = nil }

    /// Removes the oldest one if there are more than `count`.
    mutating func popFirst(keeping count: Int) -> StoreID? {
        guard numbers.count > count else { return nil }
        while first < order.count {
            let (id, number) = order[first]
            first += 1
            guard numbers[id] == number else { continue }
            numbers[id] = nil
            return id
        }
        return nil
    }
}
