import KVStoreCore
package import KVStoreLog

/// What a log holds, found without changing it.
package struct LedgerInspection {
    package var recovery: LogRecovery
    /// Also removed ones, sorted by account and name.
    package var allStores: [StoreContents]

    package var stores: [StoreContents] { allStores.filter { !$0.isRemoved } }

    /// Everything that opening would refuse or cut, in the order in which it was found.
    package var findings: [LogDamage] { recovery.damage + recovery.cutWrites }
}

extension Ledger {
    /// Reads the whole log, and neither locks, cuts nor creates anything.
    package static func inspect(_ storage: any LogStorage) throws(LogError) -> LedgerInspection {
        let log = SegmentedLog(
            storage: storage,
            options: SegmentedLog.Options(segmentByteCount: 0, isShared: false, newLogID: 0, isReadOnly: true))
        var stores: [StoreID: Store] = [:]
        var unknown: [LogDamage] = []
        var recovery = try log.open { frame in
            guard let entry = LedgerEntry(frame) else {
                return unknown.append(unknownKind(frame, in: storage))
            }
            replay(entry, at: frame.position, into: &stores)
        }
        recovery.damage += unknown
        return LedgerInspection(recovery: recovery, allStores: stores.contents)
    }

    static func unknownKind(_ frame: LogFrame, in storage: any LogStorage) -> LogDamage {
        LogDamage(
            path: storage.path(segment: frame.position.segment), offset: frame.position.offset,
            detail: "a record of unknown kind \(frame.kind)")
    }
}
