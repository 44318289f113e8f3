import Foundation
import KVStoreSimulation
import Synchronization
import KVStoreCore
import StoreTestSupport
import Testing

@testable import KVStoreEssentials

@Suite("Store with a daemon", .timeLimit(.minutes(5)))
struct SyncedStoreTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func open(
        _ transport: FakeTransport?, _ name: String = "one", isLive: Bool = true
    ) throws -> UbiquitousKeyValueStore {
        try UbiquitousKeyValueStore(configuration: configuration(transport, name, isLive: isLive))
    }

    private func configuration(_ transport: FakeTransport?, _ name: String, isLive: Bool = true) -> StoreConfiguration {
        StoreConfiguration(directory: directory.file(name), transport: transport, isLive: isLive)
    }

    private func waitFor(_ keys: Set<String>, in changes: AsyncStream<StoreChange>) async -> StoreChangeReason? {
        var notified: Set<String> = []
        for await change in changes {
            notified.formUnion(change.keys)
            if notified.isSuperset(of: keys) { return change.reason }
        }
        return nil
    }

    @Test("a value set on one device is notified and readable on another")
    func twoDevices() async throws {
        let transport = FakeTransport()
        let first = try open(transport)
        let second = try open(transport, "two")
        let changes = second.changes
        first.set("dark", forKey: "theme")
        _ = try await first.synchronizeNow()
        #expect(await waitFor(["theme"], in: changes) != nil)
        #expect(second.string(forKey: "theme") == "dark")
        let back = first.changes
        second.set("light", forKey: "theme")
        #expect(await waitFor(["theme"], in: back) == .serverChange)
        #expect(first.string(forKey: "theme") == "light")
    }

    @Test("defaults of a fresh install never overwrite the cloud, and are replaced with reason 1")
    func freshInstall() async throws {
        let transport = FakeTransport()
        let first = try open(transport)
        first.set("mine", forKey: "theme")
        _ = try await first.synchronizeNow()
        transport.hold()
        let second = try open(transport, "two")
        let changes = second.changes
        second.set("default", forKey: "theme")
        second.set("kept", forKey: "other")
        transport.release()
        #expect(await waitFor(["theme"], in: changes) == .initialSyncChange)
        #expect(second.string(forKey: "theme") == "mine")
        _ = try await second.synchronizeNow()
        #expect(second.status.initialSyncCompleted)
        _ = try await first.synchronizeNow()
        #expect(first.string(forKey: "theme") == "mine")
        #expect(first.string(forKey: "other") == "kept")
    }

    @Test("synchronizeNow reports what was sent and received")
    func report() async throws {
        let transport = FakeTransport()
        let first = try open(transport, isLive: false)
        for number in 0..<7 { first.set(Int64(number), forKey: "key \(number)") }
        let sent = try await first.synchronizeNow()
        #expect(sent.pendingKeyCount == 0)
        #expect(first.status.pendingKeyCount == 0)
        let second = try open(transport, "two", isLive: false)
        let received = try await second.synchronizeNow()
        #expect(received == SyncReport(sentKeyCount: 0, receivedKeyCount: 7, pendingKeyCount: 0))
        #expect(second.keys.count == 7)
        #expect(try await second.synchronizeNow() == SyncReport())
    }

    @Test("writes work offline, synchronizeNow fails at once, and everything is sent later")
    func offline() async throws {
        let transport = FakeTransport()
        transport.fail(.unreachable("no route"))
        let store = try open(transport)
        store.set("1", forKey: "a")
        do throws(StoreError) {
            _ = try await store.synchronizeNow()
            Issue.record("there is no route")
        } catch {
            #expect(error.code == .unreachable)
        }
        #expect(store.string(forKey: "a") == "1")
        #expect(store.status.pendingKeyCount == 1)
        #expect(store.status.connection == .offline("no route"))
        store.close()
        transport.fail(nil)
        let again = try open(transport)
        _ = try await again.synchronizeNow()
        #expect(transport.values.count == 1)
        #expect(again.status.pendingKeyCount == 0)
        #expect(again.status.lastSyncMilliseconds != nil)
    }

    @Test("each transport error has its StoreError code")
    func errors() async throws {
        let rows: [(SyncTransportError, StoreError.Code)] = [
            (.unauthorized("revoked"), .unauthorized), (.busy(retryAfterSeconds: 1), .unreachable),
            (.refused(status: 507, code: "full", message: "no"), .refused), (.malformed("?"), .unreachable),
        ]
        for (failure, code) in rows {
            let transport = FakeTransport()
            transport.fail(failure)
            let store = try open(transport)
            do throws(StoreError) {
                _ = try await store.synchronizeNow()
                Issue.record("it fails")
            } catch {
                #expect(error.code == code)
            }
        }
        let local = try open(nil, "local")
        #expect(local.status.connection == .local)
        await #expect(throws: StoreError.self) { try await local.synchronizeNow() }
    }

    @Test("closing fails a synchronizeNow that waits for the daemon")
    func closeWhileWaiting() async throws {
        let transport = FakeTransport()
        transport.hold()
        let store = try open(transport)
        async let outcome: SyncReport? = try? await store.synchronizeNow()
        // The wait has begun, or will find the store closed: it ends either way.
        store.close()
        #expect(await outcome == nil)
        transport.release()
    }

    @Test("joining an account carries local values over, and its own values replace the others")
    func joining() async throws {
        let transport = FakeTransport()
        let other = try open(transport, "other")
        other.set("account's", forKey: "both")
        other.set("account's", forKey: "theirs")
        _ = try await other.synchronizeNow()
        let store = try open(nil, "local")
        store.set("local", forKey: "both")
        store.set("local", forKey: "mine")
        let changes = store.changes
        try store.changeAccount(to: configuration(transport, "joined"))
        #expect(await waitFor(["both", "theirs"], in: changes) == .initialSyncChange)
        _ = try await store.synchronizeNow()
        #expect(store.string(forKey: "both") == "account's")
        #expect(store.string(forKey: "mine") == "local")
        #expect(transport.values.keys.sorted() == ["both", "mine", "theirs"])
    }

    @Test("switching accounts shows the values of the new account with reason 3, and mixes nothing")
    func switching() async throws {
        let (one, two) = (FakeTransport(), FakeTransport())
        let store = try open(one)
        store.set("1", forKey: "a")
        store.set("same", forKey: "both")
        _ = try await store.synchronizeNow()
        do {
            let other = try open(two, "two")
            other.set("2", forKey: "b")
            other.set("same", forKey: "both")
            _ = try await other.synchronizeNow()
        }
        let changes = store.changes
        try store.changeAccount(to: configuration(two, "two"))
        var iterator = changes.makeAsyncIterator()
        #expect(await iterator.next() == StoreChange(reason: .accountChange, keys: ["a", "b"]))
        #expect(store.keys == ["b", "both"])
        _ = try await store.synchronizeNow()
        #expect(two.values.keys.sorted() == ["b", "both"])
        #expect(try open(nil).keys == ["a", "both"])
    }

    @Test("a failed connection after an account change is retried later")
    func connectingLater() async throws {
        let transport = FakeTransport()
        let storage = SimulatedDisk().storage()
        let later = Mutex<[StoreRuntime.Body]>([])
        var runtime = StoreRuntime.over { _ in storage }
        runtime.after = { milliseconds, body in
            if milliseconds == Backoff.greatestMilliseconds { later.withLock { $0.append(body) } }
        }
        let store = try UbiquitousKeyValueStore(configuration: configuration(nil, "local"), runtime: runtime)
        // Opening takes the lock once, then connecting does.
        storage.aim(.fail(24), at: .lock, number: 2)
        #expect(throws: StoreError.self) {
            try store.changeAccount(to: configuration(transport, "joined"))
        }
        #expect(store.configuration.transport != nil)
        await #expect(throws: StoreError.self) { try await store.synchronizeNow() }
        let due = later.withLock { later in
            defer { later = [] }
            return later
        }
        for body in due { body() }
        store.set("1", forKey: "a")
        _ = try await store.synchronizeNow()
        #expect(transport.values.keys.sorted() == ["a"])
    }

    @Test("the connection of a live store becomes connected, and offline when it breaks")
    func connectionStates() async throws {
        let transport = FakeTransport()
        let store = try open(transport)
        for await connection in store.connectionChanges where connection == .connected { break }
        transport.fail(.unreachable("cut"))
        for await connection in store.connectionChanges where connection == .offline("cut") {
            break
        }
        #expect(store.status.connection == .offline("cut"))
    }

    @Test("a store that leaves its account becomes local")
    func leaving() async throws {
        let transport = FakeTransport()
        let store = try open(transport)
        let connections = store.connectionChanges
        for await connection in connections where connection == .connected { break }
        try store.changeAccount(to: configuration(nil, "local"))
        for await connection in connections where connection == .local { break }
        #expect(store.status.connection == .local)
    }

    @Test("a stream of connection states opened during a change misses nothing")
    func connectionRace() async throws {
        for round in 0..<500 {
            let delivery = ChangeDelivery { _, _ in }
            delivery.deliver(.connected)
            async let delivered: Void = delivery.deliver(.offline("\(round)"))
            for await connection in delivery.connectionStream() where connection == .offline("\(round)") { break }
            await delivered
        }
    }
}
