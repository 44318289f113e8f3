import KVStoreEssentials
import KVStoreCore
import KVStoreLedger
import KVStoreLog

/// The cost of a write depends on its record, not on the number of keys.
enum AppendBenchmarks {
    static func measure(_ setting: Setting) throws -> Findings {
        let folder = try ScratchFolder(in: setting.folder)
        let sampling = Sampling(group: "append 100 bytes to a replica", runs: setting.runs(10_000))
        let subjects = try [10, 1_000, 4_096].map { count in
            try subject(keyCount: count, folder: folder.path(of: "\(count)"))
        }
        return Findings(measurements: try sampling.measure(subjects))
    }

    private static func subject(keyCount: Int, folder: String) throws -> Subject {
        var options = DurableReplica.Options()
        options.limits = .ceiling
        let replica = try DurableReplica(storage: try FileLogStorage(directory: folder), options: options, seed: 1)
        let now = Instant(wall: LedgerClient.now, monotonic: 0)
        func write(_ index: Int, number: Int) throws -> () throws -> Void {
            let content = StoreRecord.Content.value(Values.bytes(100, number: number))
            let key = Values.key(index)
            return {
                let ready = try replica.transact(at: now) { replica, now in
                    replica.write([key: content], at: now).ready
                }
                consume(ready)
            }
        }
        for index in 0..<keyCount { try write(index, number: index)() }
        var random = SplitMix64(seed: 2)
        var number = keyCount
        var next: () throws -> Void = {}
        return Subject(
            name: "\(keyCount) keys",
            prepare: {
                number += 1
                next = try write(Int.random(in: 0..<keyCount, using: &random), number: number)
            },
            body: { try next() })
    }
}
