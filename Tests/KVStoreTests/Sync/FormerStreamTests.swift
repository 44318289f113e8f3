import Foundation
import KVStoreSimulation
import Synchronization
import StoreTestSupport
import Testing

@testable import KVStoreEssentials
@testable import KVStoreCore

@Suite("Streams that have ended", .timeLimit(.minutes(5)))
struct FormerStreamTests {
    /// Every request finds cursor 1. The first stream has one change, once it is released; the others only open.
    private final class LateTransport: SyncTransport {
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        private let (released, releasing) = AsyncStream.makeStream(of: Void.self)
        private let isFirst = Mutex(true)

        func release() { releasing.finish() }

        func sync(_ request: SyncRequest, store: String) async throws(SyncTransportError) -> SyncResponse {
            SyncResponse(
                cursor: SyncCursor(epoch: "e", sequence: 1), serverTime: Instant.now().wall,
                isInitial: request.since == nil)
        }

        func events(store: String, since: SyncCursor) -> AsyncThrowingStream<SyncEvent, any Error> {
            let isFirst = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            let isOpen = Mutex(false)
            return AsyncThrowingStream(unfolding: { [self] in
                guard isFirst else {
                    let wasOpen = isOpen.withLock { isOpen in
                        defer { isOpen = true }
                        return isOpen
                    }
                    return wasOpen ? await Self.nothing() : .opened
                }
                beginning.yield()
                // Not cancelled with the task that reads the stream, as if that came too late.
                await Task.detached { [released] in for await _ in released {} }.value
                return .change(.other("late", "1", sequence: 100))
            })
        }

        /// Returns when the task is cancelled.
        private static func nothing() async -> SyncEvent? {
            let (never, continuation) = AsyncStream.makeStream(of: Void.self)
            for await _ in never {}
            continuation.finish()
            return nil
        }
    }

    @Test("an event that an ended stream delivers late is ignored")
    func lateChange() async throws {
        let transport = LateTransport()
        let driver = SyncDriver(transport: transport, storeName: "default", monotonicMilliseconds: { 0 })
        let (transactions, transaction) = AsyncStream.makeStream(of: Void.self)
        let (connections, connection) = AsyncStream.makeStream(of: StoreStatus.Connection.self)
        let storage = SimulatedDisk().storage()
        var runtime = StoreRuntime.over { _ in storage }
        let isReleased = Mutex(false)
        // Read whenever an event is delivered to the replica.
        runtime.now = {
            if isReleased.withLock(\.self) { transaction.yield() }
            return .now()
        }
        let replica = try LocalReplica(
            storage: storage, options: DurableReplica.Options(), runtime: runtime,
            execute: { driver.enqueue($0) }, connectionChanged: { connection.yield($0) })
        driver.start(replica)
        try replica.attach(isLive: true)
        for await _ in transport.begun { break }
        let former = try #require(
            replica.read { replica -> UInt64? in
                if case .opening(let id, _) = replica.session.stream { id } else { nil }
            })
        #expect(replica.deliver(.stream(id: former, .reset)))
        for await connection in connections where connection == .connected { break }
        isReleased.withLock { $0 = true }
        transport.release()
        // From here on the replica's lock is held until it has handled the event.
        for await _ in transactions { break }
        #expect(replica.read { $0.visibleContents.isEmpty })
        #expect(replica.read(\.connection) == .connected)
        driver.stop()
    }

    @Test("a stream ends at a change that cannot be written, and the next request brings it")
    func unwrittenChange() async throws {
        let transport = FakeTransport()
        let storage = SimulatedDisk().storage()
        let store = try UbiquitousKeyValueStore(
            configuration: StoreConfiguration(directory: "unused", transport: transport),
            runtime: .over { _ in storage })
        let elsewhere = SimulatedDisk().storage()
        let other = try UbiquitousKeyValueStore(
            configuration: StoreConfiguration(directory: "unused", transport: transport, isLive: false),
            runtime: .over { _ in elsewhere })
        for await connection in store.connectionChanges where connection == .connected { break }
        storage.aim(.fail(24), at: .segments, times: .max)
        other.set("1", forKey: "missed")
        _ = try await other.synchronizeNow()
        try await wait { transport.streamCount == 0 }
        storage.heal()
        other.set("2", forKey: "later")
        _ = try await other.synchronizeNow()
        _ = try await store.synchronizeNow()
        #expect(store.keys == ["later", "missed"])
    }
}
