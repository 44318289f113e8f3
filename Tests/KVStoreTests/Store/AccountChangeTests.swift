import Dispatch
import Foundation
import KVStoreSimulation
import Synchronization
import KVStoreCore
import StoreTestSupport
import Testing

@testable import KVStoreEssentials

@Suite("Account changes with concurrent calls", .timeLimit(.minutes(5)))
struct AccountChangeTests {
    private final class Flag: Sendable { let isOver = Mutex(false) }

    /// Replicas in memory, by directory.
    private final class Machine: Sendable {
        private let disks = Mutex<[String: SimulatedDisk]>([:])

        func runtime() -> StoreRuntime {
            .over { [self] directory in
                disks.withLock { disks in
                    let disk = disks[directory] ?? SimulatedDisk()
                    disks[directory] = disk
                    return disk.storage()
                }
            }
        }
    }

    private let machine = Machine()

    private func configuration(
        _ directory: String, _ transport: FakeTransport?, limits: StoreLimits = StoreLimits()
    ) -> StoreConfiguration {
        StoreConfiguration(directory: directory, limits: limits, transport: transport)
    }

    private func open(
        _ directory: String, _ transport: FakeTransport?, _ runtime: StoreRuntime? = nil,
        limits: StoreLimits = StoreLimits()
    ) throws -> UbiquitousKeyValueStore {
        try UbiquitousKeyValueStore(
            configuration: configuration(directory, transport, limits: limits), runtime: runtime ?? machine.runtime())
    }

    @Test("a key written while the store joins an account is kept and reaches the account")
    func writeWhileJoining() async throws {
        let transport = FakeTransport()
        let callsLeft = Mutex(0)
        let writer = Mutex<(UbiquitousKeyValueStore, Task<Void, any Error>?)?>(nil)
        var runtime = machine.runtime()
        // Read when the account's replica is opened, and when the values are carried over.
        runtime.now = {
            let isCarrying = callsLeft.withLock { count in
                count -= 1
                return count == 0
            }
            if isCarrying {
                let written = DispatchSemaphore(value: 0)
                writer.withLock { writer in
                    guard let store = writer?.0 else { return }
                    writer?.1 = Task.detached {
                        try store.write(.string("late"), forKey: "late")
                        written.signal()
                    }
                }
                // Without the lock it would be in the former replica by now.
                _ = written.wait(timeout: .now() + .milliseconds(20))
            }
            return .now()
        }
        let store = try open("local", nil, runtime)
        store.set("early", forKey: "early")
        writer.withLock { $0 = (store, nil) }
        callsLeft.withLock { $0 = 2 }
        try store.changeAccount(to: configuration("joined", transport))
        let task = try #require(writer.withLock { $0?.1 })
        try await task.value
        writer.withLock { $0 = nil }
        #expect(store.keys == ["early", "late"])
        _ = try await store.synchronizeNow()
        #expect(transport.values.keys.sorted() == ["early", "late"])
    }

    @Test("no write and no round trip fails because of an account change, and every write is kept")
    func writesWhileSwitching() async throws {
        let (one, two) = (FakeTransport(), FakeTransport())
        let store = try open("one", one)
        let flag = Flag()
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for name in ["a", "b"] {
                group.addTask {
                    var count = 0
                    // A bounded number, since every opening reads them again.
                    while count < 50 || count < 500 && !flag.isOver.withLock(\.self) {
                        try store.write(.integer(Int64(count)), forKey: "\(name) \(count % 100)")
                        count += 1
                        await Task.yield()
                        if count % 10 == 0 { _ = try await store.synchronizeNow() }
                    }
                    return count
                }
            }
            for _ in 0..<200 {
                try store.changeAccount(to: configuration("two", two))
                try store.changeAccount(to: configuration("one", one))
            }
            flag.isOver.withLock { $0 = true }
            return try await group.reduce(0, +)
        }
        #expect(count >= 100)
        _ = try await store.synchronizeNow()
        try store.changeAccount(to: configuration("two", two))
        _ = try await store.synchronizeNow()
        let keys = Set(one.values.keys).union(two.values.keys)
        #expect(keys.isSuperset(of: (0..<50).flatMap { ["a \($0)", "b \($0)"] }))
    }

    @Test("concurrent account changes leave one connection, and none after close")
    func atTheSameTime() async throws {
        let transports = (0..<4).map { _ in FakeTransport() }
        let store = try open("home", FakeTransport())
        await withTaskGroup(of: Void.self) { group in
            for (index, transport) in transports.enumerated() {
                group.addTask {
                    for _ in 0..<20 {
                        try? store.changeAccount(to: configuration("\(index)", transport))
                    }
                }
            }
        }
        let current = try #require(store.configuration.transport as? FakeTransport)
        for await connection in store.connectionChanges where connection == .connected { break }
        // The streams of former sessions end in the background.
        try await wait { transports.allSatisfy { $0.streamCount == ($0 === current ? 1 : 0) } }
        store.close()
        #expect(throws: StoreError.self) {
            try store.changeAccount(to: configuration("late", FakeTransport()))
        }
        #expect(throws: StoreError.self) { try store.write(.string("1"), forKey: "a") }
    }

    @Test("values that exceed the account's limits leave its replica and the store unchanged")
    func doesNotFit() throws {
        let store = try open("local", nil)
        for key in ["k1", "k2", "k3"] { store.set("1", forKey: key) }
        let small = configuration("joined", FakeTransport(), limits: StoreLimits(keyCount: 2))
        #expect {
            try store.changeAccount(to: small)
        } throws: {
            ($0 as? StoreError)?.code == .tooManyKeys
        }
        #expect(store.keys == ["k1", "k2", "k3"])
        #expect(store.configuration.transport == nil)
        try store.write(.string("2"), forKey: "k1")
        #expect(try open("joined", nil).keys == [])
    }
}
