import Foundation
import KVStoreSimulation
import StoreTestSupport
import Synchronization
import Testing

@testable import KVStoreEssentials

@Suite("Round trips within a limit", .timeLimit(.minutes(5)))
struct DeadlineTests {
    private let transport = FakeTransport()

    private func open(_ transport: FakeTransport?) throws -> UbiquitousKeyValueStore {
        let storage = SimulatedDisk().storage()
        return try UbiquitousKeyValueStore(
            configuration: StoreConfiguration(directory: "unused", transport: transport, isLive: false),
            runtime: .over { _ in storage })
    }

    private func failure(_ body: () async throws(StoreError) -> Void) async -> StoreError? {
        do throws(StoreError) {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    @Test("a round trip that is answered within the limit is reported")
    func answered() async throws {
        let store = try open(transport)
        store.set("1", forKey: "a")
        let report = try await store.synchronizeNow(within: .seconds(240))
        // The store may have sent it by itself.
        #expect(report.pendingKeyCount == 0 && transport.values.count == 1)
    }

    @Test("what is written at once, and waited for, is one disk sync and one request")
    func oneRoundTrip() async throws {
        let storage = SimulatedDisk().storage()
        let syncs = Mutex(0)
        let store = try UbiquitousKeyValueStore(
            configuration: StoreConfiguration(directory: "unused", transport: transport, isLive: false),
            runtime: .over { _ in storage })
        try await store.completeInitialSync(within: .seconds(240))
        try store.flush()
        let before = transport.requestCount
        transport.hold()
        storage.duringSync.withLock {
            $0 = {
                syncs.withLock { $0 += 1 }
                return nil
            }
        }
        try store.write(["a": .string("1"), "b": .integer(2), "missing": nil])
        try await wait { transport.heldCount == 1 }
        // Later the answer may be flushed too.
        #expect(syncs.withLock { $0 } == 1)
        transport.release()
        #expect(try await store.sendNow(within: .seconds(240)).pendingKeyCount == 0)
        #expect(transport.values.keys.sorted() == ["a", "b"])
        #expect(transport.requestCount == before + 1)
        let failure = await failure { () throws(StoreError) in
            try store.write(["a": .string("2"), "c": .data(Data(count: 2_000_000))])
        }
        #expect(failure?.code == .quotaExceeded && store.string(forKey: "a") == "1")
    }

    @Test("at the limit it throws unreachable, and the request continues")
    func limit() async throws {
        let store = try open(transport)
        transport.hold()
        store.set("1", forKey: "a")
        let error = await failure { () throws(StoreError) in
            try await store.synchronizeNow(within: .milliseconds(50))
        }
        #expect(error?.code == .unreachable && error?.reason == "no answer within 0.05 seconds")
        transport.release()
        _ = try await store.synchronizeNow()
        #expect(transport.values.count == 1)
    }

    @Test("other errors come at once, whatever the limit")
    func refused() async throws {
        let store = try open(transport)
        transport.fail(.unauthorized("revoked"))
        let refused = await failure { () throws(StoreError) in
            try await store.synchronizeNow(within: .seconds(3_600))
        }
        #expect(refused?.code == .unauthorized)
        let local = try open(nil)
        let unjoined = await failure { () throws(StoreError) in try await local.synchronizeNow(within: .seconds(3_600))
        }
        #expect(unjoined?.code == .unauthorized)
    }

    @Test("it throws cancelled when its task is cancelled")
    func cancelled() async throws {
        let store = try open(transport)
        transport.hold()
        let task = Task {
            await failure { () throws(StoreError) in
                try await store.synchronizeNow(within: .seconds(3_600))
            }
        }
        try await wait { transport.heldCount > 0 }
        task.cancel()
        let error = await task.value
        #expect(error?.code == .cancelled && error?.reason == "the task was cancelled")
        transport.release()
    }

    @Test("the initial sync is completed once, and a value that is set after it is no default")
    func initialSync() async throws {
        let other = try open(transport)
        other.set("account", forKey: "k")
        _ = try await other.synchronizeNow()
        let early = try open(transport)
        early.set("default", forKey: "k")
        try await early.completeInitialSync(within: .seconds(240))
        #expect(early.status.initialSyncCompleted && early.string(forKey: "k") == "account")
        let store = try open(transport)
        try await store.completeInitialSync(within: .seconds(240))
        let requests = transport.requestCount
        try await store.completeInitialSync(within: .seconds(240))
        #expect(transport.requestCount == requests)
        store.set("choice", forKey: "k")
        _ = try await store.synchronizeNow()
        #expect(transport.values["k"] == .value(PropertyListValue.string("choice").encoded()))
        // Without an account there is none.
        try await open(nil).completeInitialSync(within: .zero)
        transport.hold()
        let failed = try open(transport)
        let error = await failure { () throws(StoreError) in
            try await failed.completeInitialSync(within: .milliseconds(50))
        }
        #expect(error?.code == .unreachable && !failed.status.initialSyncCompleted)
        transport.release()
    }
}
