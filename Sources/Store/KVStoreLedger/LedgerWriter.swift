package import KVStoreCore
package import KVStoreLog

extension Ledger {
    /// What it holds, as `inspect` finds it.
    package var contents: LedgerInspection {
        LedgerInspection(recovery: recovery, allStores: stores.contents)
    }
}

/// Writes whole stores into the empty storage of a ledger, with their sequence numbers and epochs.
package final class LedgerWriter {
    private let log: SegmentedLog
    private var payloads: [LogPayload] = []
    private var byteCount = 0

    private static let flushByteCount = 8 << 20

    package init(storage: any LogStorage) throws(LogError) {
        log = SegmentedLog(
            storage: storage,
            options: SegmentedLog.Options(
                segmentByteCount: Ledger.Options().segmentByteCount, isShared: false,
                newLogID: .random(in: 1 ... .max)))
        _ = try log.open { _ in }
    }

    /// - Parameter former: what was written of the store before.
    package func append(_ store: StoreContents, over former: Hub? = nil) throws(LogError) {
        let (id, hub) = (store.id, store.hub)
        // Another horizon: it was removed, or has forgotten tombstones.
        let isRewritten = former.map { $0.horizon != hub.horizon } ?? false
        if store.isRemoved || isRewritten { try append(.removed(id, hub.state)) }
        if !store.isRemoved { try append(.state(id, hub.state)) }
        for entry in hub.entries.values.sorted(by: { $0.sequence < $1.sequence })
        where isRewritten || former?.entries[entry.record.key] != entry {
            try append(.record(id, entry))
        }
    }

    private func append(_ entry: LedgerEntry) throws(LogError) {
        let payload = entry.payload
        payloads.append(payload)
        byteCount += payload.bytes.count
        if byteCount >= Self.flushByteCount { try flush() }
    }

    /// Everything is durable when it returns.
    package func flush() throws(LogError) {
        try log.append(payloads)
        try log.sync()
        payloads = []
        byteCount = 0
    }

    /// Everything is durable when it returns.
    package func close() throws(LogError) {
        try flush()
        try log.close()
    }
}
