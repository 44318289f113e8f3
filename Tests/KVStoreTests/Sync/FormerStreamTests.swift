import Foundation
import Synchronization
import Testing

@testable import KVStore

@Suite("A stream that was ended", .timeLimit(.minutes(5)))
struct FormerStreamTests {
    /// Its first stream resets itself, and has one more change when it is released. Everything else is the fake's.
    private final class LateTransport: SyncTransport {
        let fake = FakeTransport()
        private let (released, releaser) = AsyncStream.makeStream(of: Void.self)
        private let eventCount = Mutex(0)
        private let streamCount = Mutex(0)

        func release() { releaser.finish() }

        func sync(
            _ request: SyncRequest, store: String
        ) async throws(SyncTransportError) -> SyncResponse {
            try await fake.sync(request, store: store)
        }

        func events(
            store: String, since: UInt64, epoch: String
        ) -> AsyncThrowingStream<SyncEvent, any Error> {
            let number = streamCount.withLock { count in
                count += 1
                return count
            }
            guard number == 1 else {
                return fake.events(store: store, since: since, epoch: epoch)
            }
            return AsyncThrowingStream(unfolding: { [self] in
                let event = eventCount.withLock { count in
                    count += 1
                    return count
                }
                if event == 1 { return .reset }
                // Not cancelled with the task that reads the stream: as if that had been late.
                await Task.detached { [released] in for await _ in released {} }.value
                return .change(.other("late", "1", seq: 100))
            })
        }
    }

    private func runtime(_ storage: MemoryLogStorage) -> StoreRuntime {
        final class NoWatch: DirectoryWatch { func cancel() {} }
        var runtime = StoreRuntime.system
        runtime.openStorage = { _ throws(StorageFailure) in storage }
        runtime.watch = { _, _ in NoWatch() }
        return runtime
    }

    @Test("tells its store nothing more, however late its last words come")
    func lateChange() async throws {
        let transport = LateTransport()
        let (events, told) = AsyncStream.makeStream(of: Void.self)
        let isReleased = Mutex(false)
        var runtime = runtime(MemoryLogStorage(MemoryDisk()))
        // Asked for whenever the replica is told something.
        runtime.now = {
            if isReleased.withLock(\.self) { told.yield() }
            return .now()
        }
        let store = try UbiquitousKeyValueStore(
            configuration: StoreConfiguration(directory: "unused", transport: transport),
            runtime: runtime)
        for await connection in store.connectionChanges where connection == .connected { break }
        isReleased.withLock { $0 = true }
        transport.release()
        // From here on the replica's lock is held until it has handled what it was told.
        for await _ in events { break }
        #expect(store.string(forKey: "late") == nil)
        #expect(store.keys.isEmpty)
        #expect(store.status.connection == .connected)
    }

    @Test("ends where a change cannot be written down, and what it missed is asked for")
    func unwrittenChange() async throws {
        let transport = FakeTransport()
        let storage = MemoryLogStorage(MemoryDisk())
        let store = try UbiquitousKeyValueStore(
            configuration: StoreConfiguration(directory: "unused", transport: transport),
            runtime: runtime(storage))
        let other = try UbiquitousKeyValueStore(
            configuration: StoreConfiguration(
                directory: "unused", transport: transport, isLive: false),
            runtime: runtime(MemoryLogStorage(MemoryDisk())))
        for await connection in store.connectionChanges where connection == .connected { break }
        storage.breakAll(.segments, code: 24)
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
