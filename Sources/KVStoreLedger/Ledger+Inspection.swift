package import KVStoreCore
package import KVStoreLog

/// What a log holds, found without changing it.
package struct LedgerInspection {
    package var recovery: LogRecovery
    /// Sorted by account and name.
    package var stores: [(id: StoreID, hub: Hub)]
    /// What remains of removed stores, sorted likewise.
    package var removed: [(id: StoreID, state: Hub.State)]

    /// Everything that opening would refuse or cut, in the order in which it was found.
    package var findings: [LogDamage] { recovery.damage + recovery.cutWrites }
}

extension Ledger {
    /// Reads the whole log, and neither locks, cuts nor creates anything.
    package static func inspect(
        _ storage: any LogStorage
    ) throws(LogError) -> LedgerInspection {
        let log = SegmentedLog(
            storage: storage,
            options: SegmentedLog.Options(
                segmentByteCount: 0, isShared: false, newLogID: 0, isReadOnly: true))
        var stores: [StoreID: Store] = [:]
        var unknown: [LogDamage] = []
        var recovery = try log.open { frame in
            guard let entry = LedgerEntry(frame) else {
                return unknown.append(unknownKind(frame, in: storage))
            }
            replay(entry, at: frame.position, into: &stores)
        }
        recovery.damage += unknown
        let sorted = stores.values.sorted { $0.id < $1.id }
        return LedgerInspection(
            recovery: recovery,
            stores: sorted.filter { !$0.isRemoved }.map { ($0.id, $0.hub) },
            removed: sorted.filter(\.isRemoved).map { ($0.id, $0.hub.state) })
    }

    static func unknownKind(_ frame: LogFrame, in storage: any LogStorage) -> LogDamage {
        LogDamage(
            path: storage.path(segment: frame.position.segment), offset: frame.position.offset,
            detail: "a record of unknown kind \(frame.kind)")
    }
}
