import KVStoreCore
import KVStoreLog

/// Encodes a backup: its files, then each store once, then the end.
package struct BackupEncoder {
    private var encoder: SegmentEncoder
    private var buffer: [UInt8] = []
    private var summary: BackupSummary

    /// - Parameters:
    ///   - storeByteCount: of the frames of all stores.
    ///   - created: milliseconds since 1970.
    ///   - id: identifies the backup, not 0; a file with bytes of two backups is damaged.
    package init(attaching files: [AttachedFile], storeByteCount: Int, created: Int64, id: UInt64) {
        summary = BackupSummary(created: created)
        encoder = SegmentEncoder(
            logID: id, byteCount: Self.byteCount(attaching: files, storeByteCount: storeByteCount), into: &buffer)
        for file in files { append(BackupEntry.file(file).payload) }
    }

    /// Bytes of the whole backup.
    package static func byteCount(attaching files: [AttachedFile], storeByteCount: Int) -> Int {
        files.reduce(SegmentEncoder.headerByteCount + BackupEntry.endByteCount + storeByteCount) {
            $0 + BackupEntry.byteCount(of: $1)
        }
    }

    package mutating func append(_ store: StoreContents) {
        let (id, hub) = (store.id, store.hub)
        guard !store.isRemoved else {
            return append(LedgerEntry.removed(id, hub.state).payload)
        }
        append(LedgerEntry.state(id, hub.state).payload)
        for entry in hub.entries.values.sorted(by: { $0.sequence < $1.sequence }) {
            append(LedgerEntry.record(id, entry).payload)
        }
        summary.storeCount += 1
        summary.keyCount += hub.keyCount
    }

    private mutating func append(_ payload: LogPayload) {
        encoder.append(payload, to: &buffer)
        summary.frameCount += 1
    }

    /// The bytes since the last piece; nil for less than 256 KiB.
    package mutating func takePiece() -> [UInt8]? {
        guard buffer.count >= 256 * 1_024 else { return nil }
        defer { buffer.removeAll(keepingCapacity: buffer.count < 1 << 20) }
        return buffer
    }

    /// Ends the backup; returns the last piece.
    ///
    /// - Precondition: the stores have had the frames that were announced.
    package mutating func finish() -> (piece: [UInt8], summary: BackupSummary) {
        encoder.append(BackupEntry.end(summary).payload, to: &buffer)
        precondition(encoder.isComplete, "another number of bytes than announced")
        return (buffer, summary)
    }
}
