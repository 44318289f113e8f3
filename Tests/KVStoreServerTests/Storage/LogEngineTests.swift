import Foundation
import KVStoreCore
import KVStoreLedger
import KVStoreSimulation
import KVStoreLog
import KVStoreWire
import Logging
import NIOCore
import ServerTestSupport
import Synchronization
import StoreTestSupport
import Testing

@testable import KVStoreServer

@Suite("Storage engine", .timeLimit(.minutes(5)))
struct LogEngineTests {
    private let directory = try! TemporaryDirectory()
    private let store = StoreID(account: "default", name: "notes")

    private func options(segmentByteCount: Int = 65_536, waitingCount: Int = 1_024) -> LogEngine.Options {
        var options = LogEngine.Options()
        options.ledger.segmentByteCount = segmentByteCount
        options.waitingCount = waitingCount
        options.recoveryDelay = .hours(1)
        options.now = { Samples.now }
        return options
    }

    private func opened(_ storage: any LogStorage, _ options: LogEngine.Options) throws -> LogEngine {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return try LogEngine(storage: storage, options: options, seed: 7, logger: logger)
    }

    private func put(_ engine: LogEngine, _ key: String, _ value: String) async throws {
        _ = try await engine.write(
            .value(Data(value.utf8)), forKey: StoreKey(key), store: store, replica: Samples.replica)
    }

    @Test("acknowledged changes survive reopening")
    func reopening() async throws {
        let first = try opened(FileLogStorage(directory: directory.path), options())
        let response = try await first.sync(
            Samples.request([Samples.change("a"), Samples.change("b", Samples.stamp(), nil)]), store: store)
        try await put(first, "c", "third")
        await first.close()
        let second = try opened(FileLogStorage(directory: directory.path), options())
        let again = try await second.sync(
            Samples.request(since: SyncCursor(epoch: response.cursor.epoch, sequence: 0)), store: store)
        #expect(again.cursor.epoch == response.cursor.epoch)
        #expect(!again.isInitial)
        #expect(again.changes.map(\.record.key) == ["a", "b", "c"])
        #expect(again.changes.map(\.sequence) == [1, 2, 3])
        await second.close()
    }

    @Test("fifty requests that arrive during a sync share the next one")
    func groupCommit() async throws {
        let storage = SimulatedDisk().storage()
        let engine = try opened(storage, options(segmentByteCount: 1_048_576))
        try await put(engine, "first", "makes store and segment")
        let before = storage.count(of: .sync)
        let (gate, began) = storage.holdSyncs()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await put(engine, "leader", "v") }
            for await _ in began { break }
            for index in 0..<50 {
                group.addTask { try await put(engine, "k\(index)", "v") }
            }
            try await wait {
                engine.read { $0.stores(ofAccount: "default").first?.keyCount == 52 }
            }
            gate.signal()
            gate.signal()
            try await group.waitForAll()
        }
        #expect(storage.count(of: .sync) - before == 2)
        storage.releaseSyncs()
        #expect(try await engine.values(in: store)?.count == 52)
        await engine.close()
    }

    @Test("a full disk fails writes without any effect, reads still work, and writes recover")
    func fullDisk() async throws {
        let storage = SimulatedDisk().storage()
        let engine = try opened(storage, options())
        try await put(engine, "a", "before")
        storage.aim(.fail(28), at: .create, times: .max)
        let large = String(repeating: "v", count: 60_000)
        var refusal: Problem?
        for index in 0..<3 where refusal == nil {
            do {
                try await put(engine, "large\(index)", large)
            } catch let problem as Problem {
                refusal = problem
            }
        }
        #expect(refusal?.code == "disk-full")
        let kept = try #require(try await engine.values(in: store))
        #expect(kept.map(\.record.key).contains("a"))
        let pull = try await engine.sync(Samples.request(), store: store)
        #expect(pull.changes.count == kept.count)
        storage.heal()
        try await put(engine, "after", large)
        #expect(try await engine.value(of: "after", in: store) != nil)
        await engine.close()
    }

    @Test("a write that waits for a segment is not acknowledged by the sync before it")
    func syncBeforeSegment() async throws {
        let storage = SimulatedDisk().storage()
        let engine = try opened(storage, options(segmentByteCount: 4_096))
        try await put(engine, "first", "makes store and segment")
        let (gate, began) = storage.holdSyncs(1, thenFailWith: 5)
        let held = Task { try await put(engine, "held", "v") }
        for await _ in began { break }
        // Does not fit beside the others.
        let large = Task { try await put(engine, "large", String(repeating: "v", count: 3_900)) }
        try await wait { engine.logState?.waitingCount ?? 0 >= 2 }
        gate.signal()
        try await held.value
        await #expect(throws: Problem.self) { try await large.value }
        #expect(try await engine.values(in: store)?.map(\.record.key) == ["first", "held"])
        await engine.close()
    }

    @Test("after a failed sync no write is accepted, and readers see only what was synced")
    func failedSync() async throws {
        let storage = SimulatedDisk().storage()
        let engine = try opened(storage, options())
        try await put(engine, "a", "safe")
        storage.aim(.losePages, at: .sync)
        await #expect(throws: Problem.self) { try await put(engine, "b", "lost") }
        await #expect(throws: Problem.self) { try await put(engine, "c", "refused") }
        #expect(engine.logState?.hasFailed == true)
        #expect(try await engine.values(in: store)?.map(\.record.key) == ["a"])
        let pull = try await engine.sync(Samples.request(), store: store)
        #expect(pull.changes.map(\.record.key) == ["a"])
        #expect(pull.cursor.sequence == 1)
        await #expect(throws: Problem.self) { try await engine.value(of: "b", in: store) }
        let page = try #require(engine.page(of: store, after: pull.cursor))
        #expect(page.changes.isEmpty && page.cursor == 1)
        await engine.close()
    }

    @Test("requests beyond the limit on waiting ones are rejected as busy")
    func bounded() async throws {
        let storage = SimulatedDisk().storage()
        let engine = try opened(storage, options(waitingCount: 3))
        try await put(engine, "first", "v")
        let (gate, _) = storage.holdSyncs()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<3 { group.addTask { try await put(engine, "k\(index)", "v") } }
            try await wait { engine.logState?.waitingCount ?? 0 >= 3 }
            await #expect(throws: Problem.busy) { try await put(engine, "late", "v") }
            // Reads of live streams neither wait for the disk nor count.
            #expect(try await engine.end(of: store) != nil)
            storage.releaseSyncs()
            for _ in 0..<3 { gate.signal() }
            try await group.waitForAll()
        }
        try await put(engine, "later", "v")
        await engine.close()
    }

    @Test("closing completes waiting requests and rejects later ones")
    func closing() async throws {
        let engine = try opened(FileLogStorage(directory: directory.path), options())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<20 { group.addTask { try? await put(engine, "k\(index)", "v") } }
            await engine.close()
            try await group.waitForAll()
        }
        await #expect(throws: Problem.stopping) { try await put(engine, "late", "v") }
    }

    @Test("compaction keeps a rewritten log small without losing the last values")
    func compaction() async throws {
        let storage = SimulatedDisk().storage()
        let engine = try opened(storage, options())
        let value = String(repeating: "v", count: 8_000)
        for round in 0..<300 {
            try await put(engine, "k\(round % 4)", "\(round) \(value)")
        }
        #expect(engine.metrics.counters.compactionSteps > 0)
        await engine.close()
        #expect(try storage.segments().count <= 8)
        let again = try opened(storage.disk.storage(), options())
        for index in 0..<4 {
            let found = try #require(try await again.value(of: StoreKey("k\(index)"), in: store))
            #expect(found.record.content == .value(Data("\(296 + index) \(value)".utf8)))
        }
        await again.close()
    }

    @Test("a log that a former run has left large shrinks while nobody writes")
    func idleCompaction() async throws {
        let storage = SimulatedDisk().storage()
        var ledgerOptions = Ledger.Options()
        ledgerOptions.segmentByteCount = 65_536
        let ledger = try Ledger(storage: storage, options: ledgerOptions, seed: 3)
        let value = String(repeating: "v", count: 8_000)
        for round in 0..<100 {
            let change = Samples.change("k\(round % 4)", Samples.stamp(Int64(round)), value)
            _ = try ledger.apply(Samples.request([change]), to: store, now: Samples.now)
        }
        try ledger.close()
        #expect(try storage.segments().count > 10)
        let engine = try opened(storage, options())
        try await wait { try storage.segments().count <= 4 }
        #expect(try await engine.values(in: store)?.count == 4)
        await engine.close()
    }

    @Test("a single write gets a stamp after the present one, and an equal value changes nothing")
    func personalStamps() async throws {
        let engine = try opened(FileLogStorage(directory: directory.path), options())
        let ahead = Samples.stamp(30_000, 4)
        _ = try await engine.sync(Samples.request([Samples.change("a", ahead)]), store: store)
        let first = try await engine.write(
            .value(Data("mine".utf8)), forKey: "a", store: store, replica: Samples.replica
        )
        #expect(ahead < first.record.stamp)
        let second = try await engine.write(
            .value(Data("mine".utf8)), forKey: "a", store: store, replica: Samples.replica
        )
        #expect(second == first)
        await engine.close()
    }
}
