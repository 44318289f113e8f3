import Foundation
import KVStore
import KVStoreTesting
import Testing

@Suite("Simulated cloud: isolation and repetition", .timeLimit(.minutes(5)))
struct IsolationTests {
    /// A day with everything in it.
    private func course(seed: UInt64) async throws -> SimulatedCloud {
        let cloud = SimulatedCloud(seed: seed)
        let devices = try ["phone", "mac", "watch"].map { try cloud.device($0) }
        let widget = try devices[0].process("widget")
        for (index, device) in devices.enumerated() {
            device.isReordering = true
            device.store.set(Int64(index), forKey: "shared")
            device.store.set(Int64(index), forKey: "own \(index)")
            await cloud.advance(by: .milliseconds(Int64(40 * index)))
        }
        devices[0].dropNext(1, .answer)
        devices[1].isOffline = true
        devices[1].store.set("late", forKey: "shared")
        widget.store.removeObject(forKey: "own 1")
        await cloud.advance(by: .seconds(40))
        devices[1].isOffline = false
        try devices[2].restart(after: .powerFailure)
        try await cloud.settle()
        let values = devices.map { $0.store.dictionaryRepresentation.mapValues { "\($0)" } }
        #expect(values[0] == values[1], "seed \(seed)")
        #expect(values[0] == values[2], "seed \(seed)")
        return cloud
    }

    @Test("the same seed and calls repeat a run, and another seed does not")
    func repetition() async throws {
        let first = try await course(seed: 7)
        let second = try await course(seed: 7)
        let other = try await course(seed: 8)
        #expect(first.trace == second.trace)
        #expect(first.decisions == second.decisions)
        #expect(first.now == second.now)
        #expect(first.trace != other.trace)
    }

    @Test("concurrent clouds share nothing")
    func parallel() async throws {
        try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<8 { group.addTask { try await course(seed: 9).trace } }
            var traces: Set<[String]> = []
            for try await trace in group { traces.insert(trace) }
            #expect(traces.count == 1)
        }
    }

    @Test("threads may write in two processes of a device and on another device while the cloud runs")
    func threads() async throws {
        let cloud = SimulatedCloud(seed: 12)
        let phone = try cloud.device("phone")
        let stores = [phone.store, try phone.process("widget").store, try cloud.device("mac").store]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, store) in stores.enumerated() {
                group.addTask {
                    for number in 0..<100 {
                        store.set(Int64(number), forKey: "own \(index)")
                        store.set(Int64(number), forKey: "shared")
                    }
                }
            }
            for _ in 0..<2 { group.addTask { await cloud.advance(by: .seconds(30)) } }
            group.addTask { _ = try await stores[0].synchronizeNow() }
            try await group.waitForAll()
        }
        try await cloud.settle()
        let values = stores.map { $0.dictionaryRepresentation.mapValues { "\($0)" } }
        #expect(values[0] == values[1])
        #expect(values[0] == values[2])
        for index in stores.indices { #expect(values[0]["own \(index)"] == "99") }
    }

    @Test("a released cloud is deallocated with its devices and stores")
    func freed() async throws {
        weak var freed: SimulatedCloud?
        weak var store: UbiquitousKeyValueStore?
        do {
            let cloud = try await course(seed: 11)
            let phone = try cloud.device("phone")
            phone.hold()
            phone.store.set(1, forKey: "under way")
            await cloud.advance(by: .seconds(5))
            (freed, store) = (cloud, phone.store)
        }
        #expect(freed == nil)
        #expect(store == nil)
    }

    @Test("the limits and errors are the real store's")
    func limits() async throws {
        let cloud = SimulatedCloud(seed: 10)
        let phone = try cloud.device("phone")
        func code(_ value: PropertyListValue, _ key: String) -> StoreError.Code? {
            do throws(StoreError) {
                try phone.store.write(value, forKey: key)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(code(.bool(true), "") == .invalidKey)
        #expect(code(.bool(true), String(repeating: "k", count: 129)) == .invalidKey)
        #expect(code(.data(Data(count: 1_048_577)), "big") == .quotaExceeded)
        for number in 0..<1_024 { #expect(code(.bool(true), "key \(number)") == nil) }
        #expect(code(.bool(true), "one too many") == .tooManyKeys)
        try await cloud.settle()
        #expect(phone.store.status.pendingKeyCount == 0)
        #expect(phone.store.status.usedKeyCount == 1_024)
    }

    @Test("a device that several tasks request concurrently is one device with an open store")
    func askedForAtOnce() async throws {
        for round in 0..<50 {
            let cloud = SimulatedCloud(seed: UInt64(round))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<4 {
                    group.addTask {
                        try cloud.device("phone").store.set(Int64(index), forKey: "key \(index)")
                        _ = try cloud.device("phone").process("widget")
                    }
                }
                try await group.waitForAll()
            }
            #expect(try cloud.device("phone").store.keys.count == 4)
        }
    }
}
