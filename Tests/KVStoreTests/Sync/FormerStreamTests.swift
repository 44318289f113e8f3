import Foundation
import KVStoreTesting
import Synchronization
import Testing

@testable import KVStore

@Suite("A stream that was ended", .timeLimit(.minutes(5)))
struct FormerStreamTests {
    /// The first stream has one change, when it is released; the others have none.
    private final class LateTransport: SyncTransport {
        let (begun, beginner) = AsyncStream.makeStream(of: Void.self)
        private let (released, releaser) = AsyncStream.makeStream(of: Void.self)
        private let isFirst = Mutex(true)

        func release() { releaser.finish() }

        func sync(
            _ request: SyncRequest, store: String
        ) async throws(SyncTransportError) -> SyncResponse {
            throw .unreachable("there are only streams")
        }

        func events(
            store: String, since: UInt64, epoch: String
        ) -> AsyncThrowingStream<SyncEvent, any Error> {
            let isFirst = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            return AsyncThrowingStream(unfolding: { [self] in
                guard isFirst else { return await Self.nothing() }
                beginner.yield()
                // Not cancelled with the task that reads the stream: as if that had been late.
                await Task.detached { [released] in for await _ in released {} }.value
                return .change(.other("late", "1", seq: 100))
            })
        }

        /// Until the task is cancelled.
        private static func nothing() async -> SyncEvent? {
            let (never, continuation) = AsyncStream.makeStream(of: Void.self)
            for await _ in never {}
            continuation.finish()
            return nil
        }
    }

    @Test("tells its store nothing more, however late its last words come")
    func lateChange() async throws {
        let transport = LateTransport()
        let (events, told) = AsyncStream.makeStream(of: Void.self)
        let storage = SimulatedDisk().storage()
        var runtime = StoreRuntime.over { _ in storage }
        let isReleased = Mutex(false)
        // Asked for whenever the replica is told something.
        runtime.now = {
            if isReleased.withLock(\.self) { told.yield() }
            return .now()
        }
        let replica = try LocalReplica(
            storage: storage, options: DurableReplica.Options(), runtime: runtime,
            outlet: { _ in })
        try replica.handle(.attached(isLive: true))
        try replica.handle(
            .answered(
                SyncResponse(
                    epoch: "e", cursor: 1, serverTime: Moment.now().wall, initial: true,
                    more: false, changes: [])))
        try replica.handle(.stream(.opened))
        let driver = SyncDriver(
            transport: transport, storeName: "default", monotonicMilliseconds: { 0 })
        driver.start(replica)
        driver.enqueue(.openStream(since: 1, epoch: "e"))
        for await _ in transport.begun { break }
        driver.enqueue(.openStream(since: 1, epoch: "e"))
        isReleased.withLock { $0 = true }
        transport.release()
        // From here on the replica's lock is held until it has handled what it was told.
        for await _ in events { break }
        #expect(replica.read { $0.visibleContents.isEmpty })
        #expect(replica.read { $0.status.connection } == .connected)
        driver.stop()
    }

    @Test("ends where a change cannot be written down, and what it missed is asked for")
    func unwrittenChange() async throws {
        let transport = FakeTransport()
        let storage = SimulatedDisk().storage()
        let store = try UbiquitousKeyValueStore(
            configuration: StoreConfiguration(directory: "unused", transport: transport),
            runtime: .over { _ in storage })
        let elsewhere = SimulatedDisk().storage()
        let other = try UbiquitousKeyValueStore(
            configuration: StoreConfiguration(
                directory: "unused", transport: transport, isLive: false),
            runtime: .over { _ in elsewhere })
        for await connection in store.connectionChanges where connection == .connected { break }
        storage.aim(.fail(24), at: .segments, times: .max)
        other.set("1", forKey: "missed")
        _ = try await other.synchronizeNow()
        while transport.streamCount > 0 {
            try Task.checkCancellation()
            await Task.yield()
        }
        storage.heal()
        other.set("2", forKey: "later")
        _ = try await other.synchronizeNow()
        _ = try await store.synchronizeNow()
        #expect(store.keys == ["later", "missed"])
    }
}
