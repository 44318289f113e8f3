import KVStoreSimulation
import StoreTestSupport
import Testing

@testable import KVStoreEssentials
@testable import KVStoreCore

@Suite("Cancelled round trips", .timeLimit(.minutes(5)))
struct CancellationTests {
    private let transport = FakeTransport()

    private func code(_ body: () async throws -> SyncReport) async -> StoreError.Code? {
        do {
            _ = try await body()
            return nil
        } catch {
            return (error as? StoreError)?.code
        }
    }

    @Test("a cancelled synchronizeNow throws cancelled, and the store keeps working")
    func store() async throws {
        let storage = SimulatedDisk().storage()
        let store = try UbiquitousKeyValueStore(
            configuration: StoreConfiguration(directory: "unused", transport: transport, isLive: false),
            runtime: .over { _ in storage })
        transport.hold()
        store.set("1", forKey: "a")
        let task = Task { await code { try await store.synchronizeNow() } }
        try await wait { transport.heldCount == 1 }
        task.cancel()
        #expect(await task.value == .cancelled)
        // The request and the store continue.
        #expect(transport.heldCount == 1)
        #expect(store.string(forKey: "a") == "1")
        store.set("2", forKey: "b")
        transport.release()
        _ = try await store.synchronizeNow()
        #expect(transport.values.keys.sorted() == ["a", "b"])
        #expect(store.status.pendingKeyCount == 0)
    }

    @Test("a synchronizeNow of a cancelled task throws cancelled without waiting")
    func cancelledBefore() async throws {
        let storage = SimulatedDisk().storage()
        let store = try UbiquitousKeyValueStore(
            configuration: StoreConfiguration(directory: "unused", transport: transport, isLive: false),
            runtime: .over { _ in storage })
        transport.hold()
        let (starts, start) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            for await _ in starts {}
            return await code { try await store.synchronizeNow() }
        }
        task.cancel()
        start.finish()
        #expect(await task.value == .cancelled)
        transport.release()
        #expect(try await store.synchronizeNow() == SyncReport())
    }

    @Test("a cancelled call leaves no waiter behind, and others get their reports")
    func waiters() async throws {
        let driver = SyncDriver(transport: transport, storeName: "default", monotonicMilliseconds: { 0 })
        let storage = SimulatedDisk().storage()
        let replica = try LocalReplica(
            storage: storage, options: DurableReplica.Options(),
            runtime: .over { _ in storage }, execute: { driver.enqueue($0) })
        driver.start(replica)
        defer { driver.stop() }
        try replica.attach(isLive: false)
        transport.hold()
        let tasks = (0..<3).map { _ in Task { await code { try await driver.synchronize(replica, onlySends: false) } }
        }
        try await wait { driver.waiterCount == 3 && transport.heldCount == 1 }
        for task in tasks.dropLast() { task.cancel() }
        for task in tasks.dropLast() { #expect(await task.value == .cancelled) }
        #expect(driver.waiterCount == 1)
        transport.release()
        #expect(await tasks[2].value == nil)
        #expect(driver.waiterCount == 0)
        #expect(replica.read { $0.session.waiters.isEmpty })
        #expect(await code { try await driver.synchronize(replica, onlySends: false) } == nil)
    }
}
