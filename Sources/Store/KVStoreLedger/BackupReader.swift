import KVStoreCore
package import KVStoreLog

/// Reads the stores of a verified backup, one after the other.
package final class BackupReader {
    private let reader: SegmentReader
    /// Its state has been read, and its records up to now.
    private var current: StoreContents?

    package init(_ backup: LedgerBackup) throws(LogError) {
        reader = try SegmentReader(path: backup.path)
    }

    /// Nil after the last one.
    package func next() throws(LogError) -> StoreContents? {
        while let frame = try reader.next() {
            let former: StoreContents?
            switch LedgerEntry(frame) {
            case .record(_, let entry):
                current?.hub.load(entry)
                continue
            case .state(let id, let state): former = begin(StoreContents(id, Hub(state)))
            case .removed(let id, let state): former = begin(StoreContents(id, Hub(state), isRemoved: true))
            case .forgotten, nil: continue
            }
            if let former { return former }
        }
        return begin(nil)
    }

    /// Returns the store before.
    private func begin(_ store: StoreContents?) -> StoreContents? {
        current?.hub.finishLoading()
        defer { current = store }
        return current
    }
}
