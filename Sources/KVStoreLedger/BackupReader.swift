package import KVStoreCore
package import KVStoreLog

/// Reads the stores of a verified backup, one after the other.
package final class BackupReader {
    package typealias Store = (id: StoreID, hub: Hub, isRemoved: Bool)

    private let reader: SegmentReader
    /// Its state has been read, and its records up to now.
    private var current: Store?

    package init(_ backup: LedgerBackup) throws(LogError) {
        reader = try SegmentReader(path: backup.path)
    }

    /// Nil after the last one.
    package func next() throws(LogError) -> Store? {
        while let frame = try reader.next() {
            let former: Store?
            switch LedgerEntry(frame) {
            case .record(_, let entry):
                current?.hub.load(entry)
                continue
            case .state(let id, let state): former = begin((id, Hub(state), false))
            case .removed(let id, let state): former = begin((id, Hub(state), true))
            case .forgotten, nil: continue
            }
            if let former { return former }
        }
        return begin(nil)
    }

    /// Returns the store before.
    private func begin(_ store: Store?) -> Store? {
        current?.hub.finishLoading()
        defer { current = store }
        return current
    }
}
