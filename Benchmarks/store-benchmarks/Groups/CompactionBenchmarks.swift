import KVStoreCore
import KVStoreLedger
import KVStoreLog

/// The cost of a step depends on the 1 MiB that it examines, not on the size of segments or log.
enum CompactionBenchmarks {
    private static let mebibyte = 1 << 20

    static func measure(_ setting: Setting) throws -> Findings {
        let group = "a compaction step"
        let folder = try ScratchFolder(in: setting.folder)
        func subject(
            _ name: String, segment: Int, of segments: Int, isOverwritten: Bool = false,
            removes: Bool = false
        ) throws -> Subject {
            let ledger = try filled(
                folder.path(of: name), segmentByteCount: segment * mebibyte,
                segmentCount: segments, isOverwritten: isOverwritten)
            // The daemon makes a step after a sync for those who wait, so the step itself has none to make.
            return Subject(
                name: name,
                prepare: {
                    try ledger.sync()
                    while ledger.isRemovalDue != removes {
                        try ledger.compactStep()
                        try ledger.sync()
                    }
                },
                body: { try ledger.compactStep() })
        }
        let runs = setting.runs(60)
        var findings = Findings(
            measurements: try Sampling(group: group, runs: runs).measure([
                subject("1 MiB, all live, of 4 segments", segment: 1, of: 4),
                subject("1 MiB, all live, of 64 segments", segment: 1, of: 64),
                subject("4 MiB, all live, of 4 segments", segment: 4, of: 4),
                subject("16 MiB, all live, of 4 segments", segment: 16, of: 4),
                subject("1 MiB, nothing live", segment: 1, of: runs + 8, isOverwritten: true),
                subject("removal of a segment of 4 MiB", segment: 4, of: 4, removes: true),
            ]))
        if let peak = ProcessMemory.peak {
            findings.facts.append(Fact(group: group, name: "peak memory", byteCount: peak))
        }
        return findings
    }

    /// A synced log of at least that many segments, with values of 100 bytes.
    private static func filled(
        _ folder: String, segmentByteCount: Int, segmentCount: Int, isOverwritten: Bool
    ) throws -> Ledger {
        var options = Ledger.Options()
        options.segmentByteCount = segmentByteCount
        let storage = try FileLogStorage(directory: folder)
        let ledger = try Ledger(storage: storage, options: options, seed: 1)
        var clients: [LedgerClient] = []
        while try storage.segments().count < segmentCount {
            let client = LedgerClient(store: clients.count)
            try client.fill(ledger, keyCount: 1_000, valueByteCount: 100)
            clients.append(client)
        }
        if isOverwritten {
            for client in clients {
                try client.fill(ledger, keyCount: 1_000, valueByteCount: 100, number: 1_000)
            }
        }
        try ledger.sync()
        return ledger
    }
}
