import Foundation
import KVStore
import KVStoreTesting
import Logging
import Synchronization
import Testing

@testable import kvsd

@Suite("Store keeper", .timeLimit(.minutes(5)))
struct StoreKeeperTests {
    private let folder = try! TemporaryFolder()
    private let store = StoreID(account: "default", name: "notes")

    private func options(
        segmentByteCount: Int = 65_536, waitingCount: Int = 1_024
    ) -> StoreKeeper.Options {
        var options = StoreKeeper.Options()
        options.ledger.segmentByteCount = segmentByteCount
        options.waitingCount = waitingCount
        options.now = { Samples.now }
        return options
    }

    private func keeper(
        _ storage: any LogStorage, _ options: StoreKeeper.Options
    ) throws -> StoreKeeper {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return try StoreKeeper(storage: storage, options: options, seed: 7, logger: logger)
    }

    private func put(_ keeper: StoreKeeper, _ key: String, _ value: String) async throws {
        let outcome = try await keeper.write(
            .value(Data(value.utf8)), forKey: key, store: store, replica: Samples.replica)
        _ = try outcome.get()
    }

    @Test("what was acknowledged is there after opening again")
    func reopening() async throws {
        let first = try keeper(FileLogStorage(directory: folder.path), options())
        let response = try await first.sync(
            Samples.request([Samples.change("a"), Samples.change("b", Samples.stamp(), nil)]),
            store: store)
        try await put(first, "c", "third")
        await first.close()
        let second = try keeper(FileLogStorage(directory: folder.path), options())
        let again = try await second.sync(
            Samples.request(epoch: response.epoch, since: 0), store: store)
        #expect(again.epoch == response.epoch)
        #expect(!again.initial)
        #expect(again.changes.map(\.key) == ["a", "b", "c"])
        #expect(again.changes.map(\.seq) == [1, 2, 3])
        await second.close()
    }

    @Test("fifty requests that come during a sync share the next one")
    func groupCommit() async throws {
        let storage = SimulatedDisk().storage()
        let keeper = try keeper(storage, options(segmentByteCount: 1_048_576))
        try await put(keeper, "first", "makes store and segment")
        let before = storage.count(of: .sync)
        let (gate, began) = storage.holdSyncs()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await put(keeper, "leader", "v") }
            for await _ in began { break }
            for index in 0..<50 {
                group.addTask { try await put(keeper, "k\(index)", "v") }
            }
            while try await keeper.summary(of: store)?.keyCount != 52 { await Task.yield() }
            gate.signal()
            gate.signal()
            try await group.waitForAll()
        }
        #expect(storage.count(of: .sync) - before == 2)
        storage.releaseSyncs()
        #expect(try await keeper.keys(in: store)?.count == 52)
        await keeper.close()
    }

    @Test("a full disk refuses writes, takes nothing in, goes on reading, and recovers")
    func fullDisk() async throws {
        let storage = SimulatedDisk().storage()
        let keeper = try keeper(storage, options())
        try await put(keeper, "a", "before")
        storage.aim(.fail(28), at: .create, times: .max)
        let large = String(repeating: "v", count: 60_000)
        var refusal: StoreFault?
        for index in 0..<3 where refusal == nil {
            do {
                try await put(keeper, "large\(index)", large)
            } catch let fault as StoreFault {
                refusal = fault
            }
        }
        guard case .diskFull = refusal else {
            Issue.record("expected a full disk, got \(String(describing: refusal))")
            return
        }
        let kept = try #require(try await keeper.keys(in: store))
        #expect(kept.map(\.record.key).contains("a"))
        let pull = try await keeper.sync(Samples.request(), store: store)
        #expect(pull.changes.count == kept.count)
        storage.heal()
        try await put(keeper, "after", large)
        #expect(try await keeper.key("after", in: store) != nil)
        await keeper.close()
    }

    @Test("a sync that succeeds while a segment's end fails acknowledges nothing")
    func syncBesideFailure() async throws {
        let storage = SimulatedDisk().storage()
        let keeper = try keeper(storage, options(segmentByteCount: 4_096))
        try await put(keeper, "first", "makes store and segment")
        let (gate, began) = storage.holdSyncs(1, thenFailWith: 5)
        let held = Task { try await put(keeper, "held", "v") }
        for await _ in began { break }
        // Does not fit beside the others: the segment is synced and ended.
        await #expect(throws: StoreFault.self) {
            try await put(keeper, "large", String(repeating: "v", count: 3_900))
        }
        gate.signal()
        await #expect(throws: StoreFault.self) { try await held.value }
        #expect(try await keeper.keys(in: store)?.map(\.record.key) == ["first"])
        await keeper.close()
    }

    @Test("after a failed sync nothing is acknowledged or taken, and readers see what was synced")
    func failedSync() async throws {
        let storage = SimulatedDisk().storage()
        let keeper = try keeper(storage, options())
        try await put(keeper, "a", "safe")
        storage.aim(.losePages, at: .sync)
        await #expect(throws: StoreFault.self) { try await put(keeper, "b", "lost") }
        await #expect(throws: StoreFault.self) { try await put(keeper, "c", "refused") }
        #expect(keeper.counters.withLock { $0.hasFailed })
        #expect(try await keeper.keys(in: store)?.map(\.record.key) == ["a"])
        let pull = try await keeper.sync(Samples.request(), store: store)
        #expect(pull.changes.map(\.key) == ["a"])
        #expect(pull.cursor == 1)
        await #expect(throws: StoreFault.self) { try await keeper.key("b", in: store) }
        let news = try await keeper.news(of: store, epoch: pull.epoch, after: 1)
        guard case .page(let page) = news else {
            Issue.record("expected a page, got \(news)")
            return
        }
        #expect(page.changes.isEmpty && page.cursor == 1)
        await keeper.close()
    }

    @Test("requests beyond those that may wait are turned away, and the others are answered")
    func bounded() async throws {
        let storage = SimulatedDisk().storage()
        let keeper = try keeper(storage, options(waitingCount: 3))
        try await put(keeper, "first", "v")
        let (gate, _) = storage.holdSyncs()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<3 { group.addTask { try await put(keeper, "k\(index)", "v") } }
            while keeper.counters.withLock({ $0.waiting }) < 3 { await Task.yield() }
            await #expect(throws: StoreFault.busy) { try await put(keeper, "late", "v") }
            // What live streams ask for does not wait for the disk and takes no place.
            #expect(try await keeper.summary(of: store) != nil)
            storage.releaseSyncs()
            for _ in 0..<3 { gate.signal() }
            try await group.waitForAll()
        }
        try await put(keeper, "later", "v")
        await keeper.close()
    }

    @Test("a wait that is cancelled ends at once with an unknown outcome, and the daemon goes on")
    func cancelled() async throws {
        let storage = SimulatedDisk().storage()
        let keeper = try keeper(storage, options())
        try await put(keeper, "first", "v")
        let (gate, _) = storage.holdSyncs()
        let task = Task { try await put(keeper, "slow", "v") }
        while keeper.counters.withLock({ $0.waiting }) < 1 { await Task.yield() }
        task.cancel()
        await #expect(throws: StoreFault.outcomeUnknown) { try await task.value }
        storage.releaseSyncs()
        gate.signal()
        try await put(keeper, "next", "v")
        #expect(try await keeper.key("slow", in: store) != nil)
        await keeper.close()
    }

    @Test("closing answers what waits and refuses what comes later")
    func closing() async throws {
        let keeper = try keeper(FileLogStorage(directory: folder.path), options())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<20 { group.addTask { try? await put(keeper, "k\(index)", "v") } }
            await keeper.close()
            try await group.waitForAll()
        }
        await #expect(throws: StoreFault.stopping) { try await put(keeper, "late", "v") }
    }

    @Test("much rewriting of few keys keeps the log small, and opening gives the last values")
    func compaction() async throws {
        let storage = SimulatedDisk().storage()
        let keeper = try keeper(storage, options())
        let value = String(repeating: "v", count: 8_000)
        for round in 0..<300 {
            try await put(keeper, "k\(round % 4)", "\(round) \(value)")
        }
        #expect(keeper.counters.withLock { $0.compactionSteps } > 0)
        await keeper.close()
        #expect(try storage.segments().count <= 8)
        let again = try self.keeper(storage.disk.storage(), options())
        for index in 0..<4 {
            let found = try #require(try await again.key("k\(index)", in: store))
            #expect(found.record.content == .value(Data("\(296 + index) \(value)".utf8)))
        }
        await again.close()
    }

    @Test(
        "a write for a person is stamped behind what stands there, and an equal value changes nothing"
    )
    func personalStamps() async throws {
        let keeper = try keeper(FileLogStorage(directory: folder.path), options())
        let ahead = Samples.stamp(30_000, 4)
        _ = try await keeper.sync(Samples.request([Samples.change("a", ahead)]), store: store)
        let first = try await keeper.write(
            .value(Data("mine".utf8)), forKey: "a", store: store, replica: Samples.replica
        ).get()
        #expect(ahead < first.record.stamp)
        let second = try await keeper.write(
            .value(Data("mine".utf8)), forKey: "a", store: store, replica: Samples.replica
        ).get()
        #expect(second == first)
        await keeper.close()
    }
}
