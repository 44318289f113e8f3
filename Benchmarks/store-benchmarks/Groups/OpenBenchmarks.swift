import Foundation
import KVStoreEssentials
import KVStoreCore
import KVStoreLog

/// A full replica, 1,024 keys with 1 MiB of values, opened as an app does at launch.
enum OpenBenchmarks {
    static func measure(_ setting: Setting) throws -> Findings {
        let group = "open a replica with 1,024 keys and 1 MiB"
        let folder = try ScratchFolder(in: setting.folder)
        let configuration = StoreConfiguration(directory: folder.path(of: "replica"))
        try fill(configuration)
        let logByteCount = try ScratchFolder.logByteCount(configuration.directory)
        let file = folder.path(of: "file")
        try Values.bytes(logByteCount, number: 1).write(to: URL(filePath: file))

        // A store is closed outside the measurement.
        var opened: UbiquitousKeyValueStore?
        let sampling = Sampling(group: group, runs: setting.runs(500))
        let measurements = try sampling.measure([
            Subject(
                name: "read a file of the log's size",
                body: { consume(try Data(contentsOf: URL(filePath: file))) }),
            Subject(
                name: "replay the log",
                body: {
                    let storage = try FileLogStorage(directory: configuration.directory)
                    consume(try DurableReplica(storage: storage, options: DurableReplica.Options(), seed: 1))
                }),
            Subject(
                name: "open the store", prepare: { opened?.close() },
                body: { opened = try UbiquitousKeyValueStore(configuration: configuration) }),
        ])
        guard opened?.status.usedKeyCount == 1_024 else { throw Unexpected("keys are missing") }
        opened?.close()
        return Findings(
            measurements: measurements,
            facts: [Fact(group: group, name: "log size", byteCount: logByteCount)])
    }

    private static func fill(_ configuration: StoreConfiguration) throws {
        let store = try UbiquitousKeyValueStore(configuration: configuration)
        defer { store.close() }
        let total = configuration.limits.totalByteCount
        for index in 0..<1_024 {
            let value = PropertyListValue.data(Values.bytes(total / 1_024, number: index))
            try store.write(value, forKey: Values.key(index).text)
        }
        guard store.status.usedByteCount == total else {
            throw Unexpected("the store holds \(store.status.usedByteCount) bytes, not \(total)")
        }
    }
}
