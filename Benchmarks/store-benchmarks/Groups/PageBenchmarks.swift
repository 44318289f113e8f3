import KVStoreCore
import KVStoreLedger

/// The cost of the changes since a cursor depends on the answer, not on the size of the store.
enum PageBenchmarks {
    static func measure(_ setting: Setting) throws -> Findings {
        let operations = 1_000
        let runs = setting.runs(1_000)
        let hubs = [10, 1_000, 4_096].map { hub(keyCount: $0) }
        let subjects = hubs.map { hub in
            Subject(
                name: "1 of \(hub.keyCount) keys changed",
                body: {
                    for _ in 0..<operations {
                        consume(hub.page(after: hub.sequence - 1, through: hub.sequence))
                    }
                })
        }
        var findings = Findings(
            measurements: try Sampling(
                group: "the changes after a cursor", runs: runs, operations: operations
            ).measure(subjects))
        let all = hubs.map { hub in
            Subject(
                name: "first page of \(hub.keyCount) keys",
                body: { consume(hub.page(after: 0, through: hub.sequence)) })
        }
        findings.measurements += try Sampling(group: "the changes after a cursor", runs: runs).measure(all)
        return findings
    }

    /// A store in which every key has been set once and one key twice.
    private static func hub(keyCount: Int) -> Hub {
        var hub = Hub(epoch: EpochID(rawValue: 1))
        for sequence in 1...keyCount + 1 {
            let stamp = StoreStamp(
                milliseconds: LedgerClient.now, counter: UInt32(sequence),
                replica: ReplicaID(rawValue: 1))
            let record = StoreRecord(
                key: Values.key(sequence % keyCount), stamp: stamp,
                content: .value(Values.bytes(100, number: sequence)))
            hub.commit(hub.plan([record], now: LedgerClient.now))
        }
        return hub
    }
}
