package import KVStoreCore

/// A store as it was at one instant: all records, with their sequence numbers, and epochs.
package struct StoreContents {
    package let id: StoreID
    package var hub: Hub
    /// Whether it was removed and not created again; then it has no records.
    package let isRemoved: Bool

    package init(_ id: StoreID, _ hub: Hub, isRemoved: Bool = false) {
        self.id = id
        self.hub = hub
        self.isRemoved = isRemoved
    }
}

extension Ledger.Store {
    var contents: StoreContents { StoreContents(id, hub, isRemoved: isRemoved) }
}

extension [StoreID: Ledger.Store] {
    /// Sorted by account and name.
    var contents: [StoreContents] { values.map(\.contents).sorted { $0.id < $1.id } }
}
