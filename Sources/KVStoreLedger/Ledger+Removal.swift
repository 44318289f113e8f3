package import KVStoreCore
package import KVStoreLog

/// Creating and removing stores.
extension Ledger {
    /// Removes a store with all its records; returns whether there was one. Readers find an empty store from then on,
    /// after which they start over, so that what it held is dropped everywhere and what they have not sent yet is kept.
    ///
    /// What remains is a state, so that a store created again under the name continues the history. An account's
    /// removals are forgotten beyond `removalCount`, those whose frame is oldest first: to a reader from before such a
    /// removal the records are lost, and it sends them again.
    package func remove(_ id: StoreID) throws(LogError) -> Bool {
        guard let store = present(id) else { return false }
        let former = store.hub.entries.values
        let positions = store.positions.values
        try append([.removed(id, store.hub.state.removing(beginning: newEpochID(for: id)))])
        for position in positions { liveFrames.move(from: position, to: nil) }
        for entry in former {
            liveFrameByteCount -= LedgerEntry.frameByteCount(entry, of: id)
            memory.add(-Self.memoryByteCount(of: entry.record), account: id.account)
        }
        storesByAccount[id.account]?.removeAll { $0 == id }
        storeCount -= 1
        forgetRemovals(of: id.account)
        return true
    }

    private func forgetRemovals(of account: String) {
        let removed = stores.values.filter { $0.isRemoved && $0.id.account == account }
        guard removed.count > options.removalCount,
            let oldest = removed.compactMap({ store in
                store.statePosition.map { (position: $0, store: store) }
            }).min(by: { $0.position < $1.position })
        else { return }
        liveFrames.move(from: oldest.position, to: nil)
        liveFrameByteCount -= LedgerEntry.frameByteCount(
            oldest.store.hub.state, of: oldest.store.id)
        stores[oldest.store.id] = nil
    }

    func create(_ id: StoreID) throws(LogError) -> Store {
        // After a removal, sequence numbers go on.
        let state = stores[id]?.hub.state ?? Hub.State(epochs: [])
        try append([.state(id, state.beginning(newEpochID(for: id)))])
        storesByAccount[id.account, default: []].append(id)
        storeCount += 1
        return stores[id]!
    }

    func present(_ id: StoreID) -> Store? {
        stores[id].flatMap { $0.isRemoved ? nil : $0 }
    }
}
