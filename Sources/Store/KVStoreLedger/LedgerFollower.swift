import Essentials
package import KVStoreCore
package import KVStoreLog

/// Reads a log, and then what is appended to it, beside the daemon that writes it. Neither locks nor changes anything.
/// Not thread-safe.
package final class LedgerFollower {
    private let storage: any LogStorage
    private var log: SegmentedLog?
    private var stores: [StoreID: Ledger.Store] = [:]
    private var changed: Set<StoreID> = []
    private var unknown: LogDamage?
    /// Where the last frame is.
    private var segment: UInt64 = 0
    private var hasGap = false

    package init(_ storage: any LogStorage) { self.storage = storage }

    /// Reads on from where the last call ended; returns the stores of which it read anything. A write under way is left
    /// for the next call.
    ///
    /// - Throws: `damaged`, also for a gap that no daemon is filling.
    package func readOn() throws(LogError) -> Set<StoreID> {
        if let log {
            try catchUp(log)
        } else {
            try catchUp(try open())
        }
        if hasGap {
            // Compaction removed what was not read yet: that a tombstone was forgotten may have been in it.
            changed.formUnion(stores.keys)
            try catchUp(try open())
        }
        if let unknown { throw .damaged(unknown) }
        defer { changed = [] }
        return changed
    }

    /// All stores, also removed ones, sorted by account and name.
    package var allStores: [StoreContents] { stores.contents }

    /// What a store is; nil for one that the log does not have any more.
    package func store(_ id: StoreID) -> StoreContents? { stores[id]?.contents }

    /// Whether everything was read, and opening the log would not change it.
    package var isAtEnd: Bool {
        get throws(LogError) { try log?.isAtEnd ?? false }
    }

    private func catchUp(_ log: SegmentedLog) throws(LogError) {
        do throws(LogError) { try log.catchUp(isLocked: false, visit: visit) } catch {
            guard case .removed = error else { throw error }
            hasGap = true
        }
    }

    private func open() throws(LogError) -> SegmentedLog {
        for attempt in 0... {
            stores = [:]
            (segment, hasGap, unknown) = (0, false, nil)
            let log = SegmentedLog(
                storage: storage,
                options: SegmentedLog.Options(segmentByteCount: 0, isShared: false, newLogID: 0, isReadOnly: true))
            let recovery = try log.open(visit: visit)
            guard let finding = recovery.damage.first ?? recovery.unsyncedGaps.first else {
                self.log = log
                return log
            }
            // What the daemon is writing looks like that for an instant.
            guard attempt < 20 else { throw .damaged(finding) }
            usleep(50_000)
        }
        fatalError("unreachable")
    }

    private func visit(_ frame: LogFrame) {
        guard let entry = LedgerEntry(frame) else {
            unknown = unknown ?? Ledger.unknownKind(frame, in: storage)
            return
        }
        if segment > 0, frame.position.segment > segment + 1 { hasGap = true }
        segment = frame.position.segment
        Ledger.replay(entry, at: frame.position, into: &stores)
        changed.insert(entry.store)
    }
}

extension LedgerEntry {
    fileprivate var store: StoreID {
        switch self {
        case .record(let store, _), .state(let store, _), .forgotten(let store, _), .removed(let store, _): store
        }
    }
}
