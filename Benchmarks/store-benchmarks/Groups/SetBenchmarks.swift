import KVStoreEssentials
import KVStoreCore

/// The public API, on a replica with 1,000 keys.
enum SetBenchmarks {
    static func measure(_ setting: Setting) throws -> Findings {
        let folder = try ScratchFolder(in: setting.folder)
        let store = try UbiquitousKeyValueStore(configuration: StoreConfiguration(directory: folder.path))
        defer { store.close() }
        let keyCount = 1_000
        for index in 0..<keyCount {
            try store.write(.data(Values.bytes(100, number: index)), forKey: Values.key(index).text)
        }
        var number = 0
        var key = ""
        var value = PropertyListValue.bool(true)
        func prepare(isNew: Bool) {
            number += 1
            key = Values.key(number % keyCount).text
            value = .data(Values.bytes(100, number: number))
            if !isNew, let present = store.propertyList(forKey: key) { value = present }
        }
        let sampling = Sampling(group: "100 bytes in a store", runs: setting.runs(10_000))
        return Findings(
            measurements: try sampling.measure([
                Subject(
                    name: "set a new value", prepare: { prepare(isNew: true) },
                    body: { try store.write(value, forKey: key) }),
                Subject(
                    name: "set an equal value", prepare: { prepare(isNew: false) },
                    body: { try store.write(value, forKey: key) }),
                Subject(
                    name: "read a value", prepare: { prepare(isNew: true) },
                    body: { consume(store.propertyList(forKey: key)) }),
            ]))
    }
}
