import KVStoreCore

extension LedgerInspection {
    /// Bytes of the backup that `writeBackup` writes.
    package func backupByteCount(attaching files: [AttachedFile]) -> Int {
        BackupEncoder.byteCount(attaching: files, storeByteCount: storeByteCount)
    }

    private var storeByteCount: Int {
        allStores.reduce(0) { total, store in
            store.hub.entries.values.reduce(
                total + LedgerEntry.frameByteCount(store.hub.state, of: store.id)
            ) { $0 + LedgerEntry.frameByteCount($1, of: store.id) }
        }
    }

    /// Passes the bytes of a backup to `write`, in pieces of at least 256 KiB but for the last.
    ///
    /// - Precondition: `findings` is empty.
    /// - Parameters: as of `BackupEncoder`.
    package func writeBackup<Failure: Error>(
        attaching files: [AttachedFile], created: Int64, id: UInt64, to write: ([UInt8]) throws(Failure) -> Void
    ) throws(Failure) -> BackupSummary {
        precondition(findings.isEmpty)
        var encoder = BackupEncoder(attaching: files, storeByteCount: storeByteCount, created: created, id: id)
        for store in allStores {
            encoder.append(store)
            if let piece = encoder.takePiece() { try write(piece) }
        }
        let (piece, summary) = encoder.finish()
        try write(piece)
        return summary
    }
}
