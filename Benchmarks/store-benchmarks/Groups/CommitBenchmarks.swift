import Foundation
import KVStoreCore
import KVStoreLedger
import KVStoreLog

/// Concurrent requests of 4 KiB share one sync.
enum CommitBenchmarks {
    static func measure(_ setting: Setting) throws -> Findings {
        let group = "commit a request of 4 KiB, per request"
        let folder = try ScratchFolder(in: setting.folder)
        let runs = setting.runs(1_000)
        var measurements: [(String, [Double])] = []
        var subjects: [(name: String, count: Int, run: () throws -> Double)] = [
            ("one sync each", 1, try ledger(folder.path(of: "1"), waiting: 1)),
            ("16 share a sync", 16, try ledger(folder.path(of: "16"), waiting: 16)),
            ("64 share a sync", 64, try ledger(folder.path(of: "64"), waiting: 64)),
        ]
        subjects.append(("plain write and sync", 1, try bareWrites(folder.path(of: "bare"))))
        var samples = [[Double]](repeating: [], count: subjects.count)
        for run in -10..<runs {
            for (index, subject) in subjects.enumerated() {
                let elapsed = try subject.run()
                if run >= 0 { samples[index].append(elapsed / Double(subject.count)) }
            }
        }
        for (index, subject) in subjects.enumerated() {
            measurements.append((subject.name, samples[index]))
        }
        return Findings(measurements: Sampling(group: group, runs: runs).ratios(measurements))
    }

    /// Applies one request to each of that many stores, and syncs once.
    private static func ledger(_ folder: String, waiting: Int) throws -> () throws -> Double {
        let ledger = try Ledger(storage: try FileLogStorage(directory: folder), seed: 1)
        let clients = (0..<waiting).map(LedgerClient.init(store:))
        var number = 0
        return {
            let requests = clients.map { client in
                number += 1
                let key = Values.key(number % 8)
                return client.request([(key, Values.bytes(4_096, number: number))])
            }
            while ledger.isCompactionDue { try ledger.compactStep() }
            return try nanoseconds {
                for (client, request) in zip(clients, requests) {
                    try client.apply(request, to: ledger)
                }
                try ledger.sync()
            }
        }
    }

    /// Writes 4 KiB into preallocated space and syncs it: the cost of the disk alone.
    private static func bareWrites(_ folder: String) throws -> () throws -> Double {
        let storage = try FileLogStorage(directory: folder)
        let block = [UInt8](Values.bytes(4_096, number: 1))
        var segment: UInt64 = 0
        var file: (any LogFile)?
        var place = 0
        return {
            if file == nil || place + block.count > file!.byteCount {
                segment += 1
                if segment > 1 { try storage.remove(segment: segment - 1) }
                file = try storage.create(segment: segment, content: [0], byteCount: 16 << 20)
                place = block.count
            }
            return try nanoseconds {
                try block.withUnsafeBytes { try file!.write($0, at: place) }
                try file!.sync()
                place += block.count
            }
        }
    }
}
