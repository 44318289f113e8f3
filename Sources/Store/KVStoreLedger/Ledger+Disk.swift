package import KVStoreCore
package import KVStoreLog
package import LocalFiles

/// Syncs, and how the ledger goes on after a failed one.
extension Ledger {
    /// Throws `closedByFailure` after a failed sync.
    package func checkOpen() throws(LogError) { try log.checkOpen() }

    /// Whether everything appended is durable, and live readers may see it.
    package var isDurable: Bool { unsynced.isEmpty && log.isDurable }

    /// A sync, and what it makes durable. Unchecked because `sync` alone is used elsewhere than by the owner.
    package struct PendingSync: @unchecked Sendable {
        package let sync: SegmentedLog.PendingSync
        fileprivate let sequences: [(store: Store, sequence: UInt64)]
    }

    /// Nil when everything is durable.
    package func prepareSync() throws(LogError) -> PendingSync? {
        guard let sync = try log.prepareSync() else {
            markDurable(unsyncedSequences)
            return nil
        }
        return PendingSync(sync: sync, sequences: unsyncedSequences)
    }

    private var unsyncedSequences: [(store: Store, sequence: UInt64)] {
        unsynced.map { ($0, $0.hub.sequence) }
    }

    /// Records the outcome of a sync.
    ///
    /// Throws `closedByFailure` if this sync or a concurrent one failed: nothing may be acknowledged then.
    package func finish(_ pending: PendingSync, failure: FileError?) throws(LogError) {
        try log.finish(pending.sync, failure: failure)
        markDurable(pending.sequences)
    }

    /// Blocks until everything appended is durable. Once it throws, nothing more is written: `closedByFailure`.
    package func sync() throws(LogError) {
        try log.sync()
        markDurable(unsyncedSequences)
    }

    /// Whether something waits for the next segment.
    package var isSegmentDue: Bool { log.isSegmentDue }

    /// The next segment, if one is due. Precondition: everything is durable.
    package func prepareSegment() throws(LogError) -> SegmentedLog.PendingSegment? {
        try log.prepareSegment()
    }

    /// Records the outcome. When it throws, nothing has changed.
    package func finish(
        _ pending: SegmentedLog.PendingSegment, _ outcome: Result<any LogFile, FileError>
    ) throws(LogError) {
        try log.finish(pending, outcome)
    }

    /// A segment that replaces the one whose sync failed. Unchecked because `segment` alone is used elsewhere than by
    /// the owner.
    package struct PendingRecovery: @unchecked Sendable {
        package let segment: SegmentedLog.PendingSegment
        fileprivate let removals: [Store]
        fileprivate let states: [Store]
        fileprivate let records: [(store: Store, key: StoreKey)]
    }

    /// How to continue after a failed sync: all that is live in the segment is written to a new one. Nil if no sync has
    /// failed. Nothing may be changed until it is finished.
    package func prepareRecovery() throws(LogError) -> PendingRecovery? {
        guard log.isClosedByFailure else { return nil }
        let segment = log.activeSegment
        // Without it, what a store held before a removal would return.
        let removals = stores.values.filter {
            !$0.isRemoved && $0.removalPosition?.segment == segment
        }
        let states = stores.values.filter { $0.statePosition?.segment == segment }
        let records = stores.values.flatMap { store in
            store.hub.entries.values
                .filter { store.positions[$0.record.key]?.segment == segment }
                .map { (store: store, entry: $0) }
        }
        let pending = try log.prepareRecovery(
            with: removals.map { LedgerEntry.removed($0.id, $0.hub.state).payload } + states.map(\.stateEntry.payload)
                + records.map { LedgerEntry.record($0.store.id, $0.entry).payload })
        return pending.map {
            PendingRecovery(
                segment: $0, removals: removals, states: states,
                records: records.map { ($0.store, $0.entry.record.key) })
        }
    }

    /// Records the outcome; everything that was appended is durable then, also what was not acknowledged. When it
    /// throws, the log remains closed.
    package func finish(_ pending: PendingRecovery, _ outcome: Result<any LogFile, FileError>) throws(LogError) {
        try log.finish(pending.segment, outcome)
        var positions = pending.segment.positions[...]
        for store in pending.removals { store.removalPosition = positions.removeFirst() }
        for store in pending.states { placeState(of: store, at: positions.removeFirst()) }
        for (store, key) in pending.records {
            place(key, of: store, at: positions.removeFirst())
        }
        markDurable(unsyncedSequences)
    }

    /// Blocks until the log has recovered from a failed sync.
    package func recover() throws(LogError) {
        guard let pending = try prepareRecovery() else { return }
        try finish(pending, pending.segment.perform())
    }

    private func markDurable(_ sequences: [(store: Store, sequence: UInt64)]) {
        for (store, sequence) in sequences {
            if sequence > store.durableSequence {
                store.durableSequence = sequence
                advanced.append(store.id)
            }
            if store.hub.sequence == sequence { store.isUnsynced = false }
        }
        unsynced.removeAll { !$0.isUnsynced }
    }

    /// Work for another thread that makes the next segment fast; once for each segment, when it is half full, and for
    /// the first.
    package func spaceToPrepare() -> (@Sendable () -> Void)? {
        let end = log.end
        guard end.segment != preparedAfter,
            end.segment == 0 || end.offset > options.segmentByteCount / 2
        else { return nil }
        preparedAfter = end.segment
        return { [storage = log.storage, byteCount = options.segmentByteCount] in
            storage.prepareSpace(byteCount: byteCount)
        }
    }

    /// The stores with changes that live readers may see since the last call.
    package func takeAdvanced() -> [StoreID] {
        defer { advanced.removeAll() }
        return advanced
    }

    package func close() throws(LogError) { try log.close() }
}
