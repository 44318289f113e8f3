import Dispatch
import Foundation
import HTTPTypes
import KVStoreCore
import KVStoreLedger
import KVStoreLog
import KVStoreSimulation
import KVStoreWire
import Logging
import NIOCore
import ServerTestSupport
import StoreTestSupport
import Testing

@testable import KVStoreServer

/// A disk that hangs while the log's next segment is created.
@Suite("Held segments", .timeLimit(.minutes(5)))
struct HeldSegmentTests {
    private let storage = SimulatedDisk().storage()
    private let store = StoreID(account: "default", name: "notes")
    /// One of them fits into a segment.
    private static let large = String(repeating: "v", count: 60_000)

    private func opened(waitingCount: Int = 1_024) throws -> LogEngine {
        var options = LogEngine.Options()
        options.ledger.segmentByteCount = 65_536
        options.waitingCount = waitingCount
        options.recoveryDelay = .milliseconds(1)
        options.now = { Samples.now }
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return try LogEngine(storage: storage, options: options, seed: 7, logger: logger)
    }

    private func put(_ engine: LogEngine, _ key: String, _ value: String = large) async throws {
        _ = try await engine.write(
            .value(Data(value.utf8)), forKey: StoreKey(key), store: store, replica: Samples.replica)
    }

    private func first(of events: AsyncStream<Void>) async { for await _ in events { break } }

    private func waiting(_ count: Int, _ engine: LogEngine) async throws {
        try await wait { engine.logState?.waitingCount ?? 0 >= count }
    }

    @Test("reads go on while the next segment is created, and writes resume when the disk does")
    func reads() async throws {
        let engine = try opened(waitingCount: 2)
        try await put(engine, "first")
        let cursor = try #require(try await engine.end(of: store))
        let (gate, began) = storage.holdCreations()
        let second = Task { try await put(engine, "second") }
        await first(of: began)
        // Would fit into the old segment, which has ended.
        let third = Task { try await put(engine, "third", "v") }
        try await waiting(2, engine)
        #expect(try await engine.value(of: "first", in: store) != nil)
        #expect(try await engine.values(in: store)?.map(\.record.key) == ["first"])
        let pull = try await engine.sync(Samples.request(since: cursor), store: store)
        #expect(pull.changes.isEmpty && pull.cursor == cursor)
        #expect(engine.page(of: store, after: cursor)?.changes.isEmpty == true)
        #expect(try await engine.storeList(ofAccount: "default").map(\.keyCount) == [1])
        await #expect(throws: Problem.busy) { try await put(engine, "beyond the limit") }
        gate.signal()
        try await second.value
        try await third.value
        await engine.close()
        let again = try opened()
        #expect(try await again.values(in: store)?.map(\.record.key) == ["first", "second", "third"])
        await again.close()
    }

    @Test("what was synced before the next segment is created is answered at once")
    func answers() async throws {
        let engine = try opened()
        try await put(engine, "first", "v")
        let (syncGate, syncBegan) = storage.holdSyncs(1)
        let (gate, began) = storage.holdCreations()
        let synced = Task { try await put(engine, "synced") }
        await first(of: syncBegan)
        let parked = Task { try await put(engine, "parked") }
        try await waiting(2, engine)
        syncGate.signal()
        try await synced.value
        await first(of: began)
        #expect(try await engine.value(of: "synced", in: store) != nil)
        gate.signal()
        try await parked.value
        await engine.close()
    }

    @Test("when a segment cannot be created, each waiting write fails alone and without effect")
    func failure() async throws {
        let engine = try opened()
        try await put(engine, "first")
        storage.aim(.fail(ENOSPC), at: .create)
        let (gate, began) = storage.holdCreations()
        let second = Task { try await put(engine, "second") }
        await first(of: began)
        // Would fit into the old segment, which has ended.
        let third = Task { try await put(engine, "third", "v") }
        try await waiting(2, engine)
        gate.signal()
        for write in [second, third] {
            await #expect {
                try await write.value
            } throws: {
                ($0 as? Problem)?.code == "disk-full"
            }
        }
        #expect(engine.metrics.counters.requestsRefusedForSpace == 2)
        #expect(try await engine.values(in: store)?.map(\.record.key) == ["first"])
        // There is room for it in the old segment.
        try await put(engine, "small", "v")
        gate.signal()
        try await put(engine, "second")
        #expect(engine.metrics.counters.incident?.recovered == Samples.now)
        await engine.close()
    }

    @Test("reads go on while the log recovers from a failed sync into a new segment")
    func recovery() async throws {
        let engine = try opened()
        try await put(engine, "first", "v")
        let (gate, began) = storage.holdCreations()
        storage.aim(.losePages, at: .sync)
        await #expect(throws: Problem.self) { try await put(engine, "lost", "v") }
        await first(of: began)
        #expect(try await engine.value(of: "first", in: store) != nil)
        await #expect(throws: Problem.self) { try await put(engine, "refused", "v") }
        gate.signal()
        try await wait { engine.logState?.hasFailed == false }
        try await put(engine, "second", "v")
        await engine.close()
    }

    @Test("an engine that closes answers those that wait for a segment")
    func closing() async throws {
        let engine = try opened()
        try await put(engine, "first")
        let (gate, began) = storage.holdCreations()
        let write = Task { try await put(engine, "second") }
        await first(of: began)
        async let closed: Void = engine.close()
        try await wait { engine.isClosing }
        gate.signal()
        await #expect(throws: Problem.stopping) { try await write.value }
        await closed
    }

    @Test("a GET is answered while a PUT waits for the next segment")
    func connections() async throws {
        let test = try TestServer(segmentByteCount: 65_536)
        try await test.served { client, port in
            let reader = TestClient(port: port)
            func execute(_ method: HTTPRequest.Method, _ key: String) async throws -> TestResponse {
                try await (method == .put ? client : reader).execute(
                    uri: "/v1/stores/s/keys/\(key)", method: method,
                    headers: test.headers(TestServer.laptop, [.contentType: "application/octet-stream"]),
                    body: method == .put ? ByteBuffer(string: Self.large) : nil)
            }
            _ = try await execute(.put, "first")
            let (gate, began) = test.storage.holdCreations()
            async let second = execute(.put, "second")
            await first(of: began)
            #expect(try await execute(.get, "first").status == .ok)
            #expect(try await execute(.get, "second").status == .notFound)
            gate.signal()
            #expect(try await second.status == .ok)
            #expect(try await execute(.get, "second").status == .ok)
            await reader.close()
        }
    }
}
