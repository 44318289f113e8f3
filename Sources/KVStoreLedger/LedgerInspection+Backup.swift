import KVStoreCore
import KVStoreLog

extension LedgerInspection {
    /// Bytes of the backup that `writeBackup` writes.
    package func backupByteCount(attaching files: [AttachedFile]) -> Int {
        var count = SegmentEncoder.headerByteCount + BackupEntry.endByteCount
        for file in files { count += BackupEntry.byteCount(of: file) }
        for (id, hub) in stores {
            count += LedgerEntry.frameByteCount(hub.state, of: id)
            for entry in hub.entries.values { count += LedgerEntry.frameByteCount(entry, of: id) }
        }
        for (id, state) in removed { count += LedgerEntry.frameByteCount(state, of: id) }
        return count
    }

    /// Passes the bytes of a backup to `write`, in pieces of at least 256 KiB but for the last.
    ///
    /// - Precondition: `findings` is empty.
    /// - Parameters:
    ///   - created: milliseconds since 1970.
    ///   - id: identifies the backup, not 0; a file with bytes of two backups is damaged.
    package func writeBackup<Failure: Error>(
        attaching files: [AttachedFile], created: Int64, id: UInt64,
        to write: ([UInt8]) throws(Failure) -> Void
    ) throws(Failure) -> BackupSummary {
        precondition(findings.isEmpty)
        var summary = BackupSummary(created: created)
        var buffer: [UInt8] = []
        var encoder = SegmentEncoder(
            logID: id, byteCount: backupByteCount(attaching: files), into: &buffer)
        func append(_ payload: LogPayload) throws(Failure) {
            encoder.append(payload, to: &buffer)
            summary.frameCount += 1
            guard buffer.count >= 256 * 1_024 else { return }
            try write(buffer)
            buffer.removeAll(keepingCapacity: true)
        }
        for file in files { try append(BackupEntry.file(file).payload) }
        for (id, hub) in stores {
            try append(LedgerEntry.state(id, hub.state).payload)
            for entry in hub.entries.values.sorted(by: { $0.sequence < $1.sequence }) {
                try append(LedgerEntry.record(id, entry).payload)
            }
            summary.storeCount += 1
            summary.keyCount += hub.keyCount
        }
        for (id, state) in removed { try append(LedgerEntry.removed(id, state).payload) }
        encoder.append(BackupEntry.end(summary).payload, to: &buffer)
        try write(buffer)
        return summary
    }
}
