import KVStoreCore
import KVStoreLedger
import KVStoreLog

/// The cost of a change to a store of the daemon does not depend on the number of its keys.
enum LedgerBenchmarks {
    static func measure(_ setting: Setting) throws -> Findings {
        let folder = try ScratchFolder(in: setting.folder)
        let sampling = Sampling(group: "one change of 100 bytes in the daemon", runs: setting.runs(10_000))
        let subjects = try [10, 1_000, 4_096].map { count in
            try subject(keyCount: count, folder: folder.path(of: "\(count)"))
        }
        return Findings(measurements: try sampling.measure(subjects))
    }

    private static func subject(keyCount: Int, folder: String) throws -> Subject {
        let ledger = try Ledger(storage: try FileLogStorage(directory: folder), seed: 1)
        let client = LedgerClient(store: keyCount)
        try client.fill(ledger, keyCount: keyCount, valueByteCount: 100)
        var random = SplitMix64(seed: 2)
        var number = keyCount
        var request = client.request([])
        return Subject(
            name: "\(keyCount) keys",
            prepare: {
                number += 1
                let key = Values.key(Int.random(in: 0..<keyCount, using: &random))
                request = client.request([(key, Values.bytes(100, number: number))])
            },
            body: { try client.apply(request, to: ledger) })
    }
}
