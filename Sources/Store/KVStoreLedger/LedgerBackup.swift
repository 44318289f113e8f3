import KVStoreCore
package import KVStoreLog

/// A backup that has been verified: every checksum, the counts at its end, and the names and sizes of attached files.
package struct LedgerBackup: Sendable {
    package let path: String
    package let byteCount: Int
    package let summary: BackupSummary
    package let files: [AttachedFile]

    /// Reads the whole file. Anything unexpected is `damaged`, with the offset.
    ///
    /// - Parameter limits: the names that an attached file may have, each with the greatest size.
    package init(verifying path: String, limits: [String: Int]) throws(LogError) {
        let reader = try SegmentReader(path: path)
        var found = BackupSummary(created: 0)
        var end: BackupSummary?
        var files: [AttachedFile] = []
        var stores: Set<StoreID> = []
        var current: StoreID?
        while let frame = try reader.next() {
            guard end == nil else {
                throw reader.damage(at: frame.position.offset, "a record after the end")
            }
            switch (LedgerEntry(frame), BackupEntry(frame)) {
            case (.state(let id, _), _) where stores.insert(id).inserted:
                found.storeCount += 1
                current = id
            case (.record(let id, let entry), _) where id == current:
                if !entry.record.content.isTombstone { found.keyCount += 1 }
            case (.removed(let id, _), _) where stores.insert(id).inserted: current = nil
            case (_, .file(let file))
            where !files.contains { $0.name == file.name } && limits[file.name].map { file.content.count <= $0 } == true:
                files.append(file)
            case (_, .end(let summary)):
                found.created = summary.created
                guard summary == found else {
                    throw reader.damage(at: frame.position.offset, "the counts do not match the records")
                }
                end = summary
            default: throw reader.damage(at: frame.position.offset, "an unexpected record of kind \(frame.kind)")
            }
            if end == nil { found.frameCount += 1 }
        }
        guard let end else { throw reader.damage(at: reader.byteCount, "the end is missing") }
        self.path = path
        byteCount = reader.byteCount
        summary = end
        self.files = files
    }

    /// Writes the ledger into an empty storage, durably, and begins a new epoch of every store. Nothing in `storage` is
    /// of use when it throws.
    package func restore(
        to storage: any LogStorage, options: Ledger.Options = Ledger.Options(), seed: UInt64
    ) throws(LogError) {
        var random = SplitMix64(seed: seed)
        let log = SegmentedLog(
            storage: storage,
            options: SegmentedLog.Options(
                segmentByteCount: options.segmentByteCount, isShared: false, newLogID: random.next()))
        _ = try log.open { _ in }
        let reader = try SegmentReader(path: path)
        var payloads: [LogPayload] = []
        var byteCount = 0
        while let frame = try reader.next() {
            guard LedgerEntry.subject(of: frame) != nil else { continue }
            payloads.append(LogPayload(kind: frame.kind, bytes: Array(frame.payload)))
            byteCount += frame.payload.count
            guard byteCount >= options.compactionByteCount else { continue }
            try log.append(payloads)
            payloads.removeAll()
            byteCount = 0
        }
        try log.append(payloads)
        try log.close()
        let ledger = try Ledger(storage: storage, options: options, seed: random.next())
        try ledger.renewEpochs()
        try ledger.close()
    }
}
