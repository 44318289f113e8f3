import Foundation
import KVStoreCore
import KVStoreLog
import KVStoreSimulation
import StoreTestSupport
import Testing

@testable import KVStoreLedger

@Suite("Limits of a ledger")
struct LedgerLimitTests {
    private let store = StoreID(account: "one", name: "default")
    private let now: Int64 = 1_000_000

    private func ledger(_ disk: SimulatedDisk, memoryByteLimit: Int = 1 << 30, seed: UInt64 = 1) throws -> Ledger {
        var options = Ledger.Options()
        options.memoryByteLimit = memoryByteLimit
        return try Ledger(storage: disk.storage(), options: options, seed: seed)
    }

    private func request(_ changes: [StoreRecord], since: SyncCursor? = nil) -> SyncRequest {
        SyncRequest(replica: ReplicaID(rawValue: 1), since: since, changes: changes)
    }

    private func memory(_ records: StoreRecord...) -> Int {
        records.reduce(0) { $0 + Ledger.memoryByteCount(of: $1) }
    }

    @Test("keys without bytes of value and tombstones count too")
    func emptyValues() throws {
        let ledger = try ledger(SimulatedDisk(), memoryByteLimit: 10_000)
        var count = 0
        #expect(throws: LogError.full(limit: 10_000)) {
            while count < 1_000 {
                let key = StoreKey("k\(count)")
                _ = try ledger.apply(request([.other(key, count.isMultiple(of: 2) ? "" : nil)]), to: store, now: now)
                count += 1
            }
        }
        #expect(count == 10_000 / memory(.other("kk", nil)))
    }

    @Test("a full ledger refuses growth, keeps its values and accepts removals")
    func full() throws {
        let disk = SimulatedDisk()
        let limit = memory(.other("a", "12345678"), .other("b", "1"))
        let ledger = try ledger(disk, memoryByteLimit: limit)
        _ = try ledger.apply(request([.other("a", "12345678")]), to: store, now: now)
        #expect(throws: LogError.full(limit: limit)) {
            _ = try ledger.apply(request([.other("b", "1"), .other("c", "23")]), to: store, now: now)
        }
        let hub = try #require(ledger.hub(store))
        #expect(Set(hub.entries.keys) == ["a"] && hub.sequence == 1)
        // A full ledger still answers pulls, and accepts what frees space.
        #expect(try ledger.apply(request([]), to: store, now: now).changes.count == 1)
        _ = try ledger.apply(request([.other("a", nil, at: 600_000)]), to: store, now: now)
        _ = try ledger.apply(request([.other("b", "12345678")]), to: store, now: now)
        let present = memory(.other("a", nil), .other("b", "12345678"))
        #expect(ledger.memoryByteCount == present)
        try ledger.close()
        // Nothing of the refused request is in the log either.
        let again = try self.ledger(disk, seed: 2)
        #expect(Set(try #require(again.hub(store)).entries.keys) == ["a", "b"])
        #expect(again.memoryByteCount == present)
    }

    @Test("a full ledger accepts a value of the same size, and counts a key once")
    func replaced() throws {
        let limit = memory(.other("a", "12345"), .other("b", "67890"))
        let ledger = try ledger(SimulatedDisk(), memoryByteLimit: limit)
        _ = try ledger.apply(request([.other("a", "1234567890")]), to: store, now: now)
        _ = try ledger.apply(
            request([
                .other("a", "0987654321", at: 600_000), .other("a", "12345", at: 700_000),
                .other("b", "67890", at: 600_000),
            ]), to: store, now: now)
        #expect(ledger.memoryByteCount == limit)
        #expect(throws: LogError.full(limit: limit)) {
            _ = try ledger.apply(request([.other("a", "123456", at: 800_000)]), to: store, now: now)
        }
        #expect(ledger.hub(store)?.entries["a"]?.record.content == .value(Data("12345".utf8)))
    }

    @Test("tombstones beyond 4,096 are forgotten, and readers below the horizon start over")
    func collection() throws {
        let disk = SimulatedDisk()
        let ledger = try ledger(disk)
        let count = WireLimits.tombstoneCount + 300
        for start in stride(from: 0, to: count, by: 100) {
            let changes = (start..<start + 100).filter { $0 < count }.map {
                StoreRecord.other("k\($0)", nil, at: 500_000 + Int64($0))
            }
            _ = try ledger.apply(request(changes), to: store, now: now)
        }
        let hub = try #require(ledger.hub(store))
        #expect(hub.tombstoneCount <= WireLimits.tombstoneCount + 256)
        #expect(hub.entries["k0"] == nil && hub.entries["k\(count - 1)"] != nil)
        #expect(hub.horizon == UInt64(count - hub.entries.count))
        let present = try ledger.apply(
            request([], since: SyncCursor(epoch: hub.end.epoch, sequence: hub.horizon)), to: store, now: now)
        #expect(!present.isInitial)
        let late = try ledger.apply(
            request([], since: SyncCursor(epoch: hub.end.epoch, sequence: hub.horizon - 1)), to: store, now: now)
        #expect(late.isInitial)
        try ledger.close()
        let again = try self.ledger(disk, seed: 2)
        #expect(again.hub(store)?.horizon == hub.horizon)
        #expect(again.hub(store)?.entries == hub.entries)
    }

    @Test("a superseded change whose winner does not fit into the answer has to be sent again")
    func winnersInTurn() throws {
        let ledger = try ledger(SimulatedDisk())
        let large = String(repeating: "v", count: 900_000)
        for key in ["a", "b"] as [StoreKey] {
            _ = try ledger.apply(request([.other(key, large, at: 600_000)]), to: store, now: now)
        }
        let hub = try #require(ledger.hub(store))
        let losers = (["a", "b"] as [StoreKey]).map { StoreRecord.other($0, "small", at: 1) }
        let first = try ledger.apply(request(losers, since: hub.end), to: store, now: now)
        #expect(first.changes.map(\.record.key) == ["a"])
        #expect(first.rejections == [SyncRejection(losers[1], .again)])
        let second = try ledger.apply(request([losers[1]], since: hub.end), to: store, now: now)
        #expect(second.changes.map(\.record.key) == ["b"] && second.rejections.isEmpty)
        #expect(ledger.hub(store)?.sequence == 2)
    }

    @Test("changes with invalid keys are rejected one by one, and the others accepted")
    func invalidKeys() throws {
        let ledger = try ledger(SimulatedDisk())
        let answer = try ledger.apply(
            request([.other("a", "1"), .other("", nil), .other("c", "1"), .other(.long, "1")]), to: store, now: now)
        #expect(answer.rejections.map(\.key) == ["", .long])
        #expect(answer.rejections.map(\.reason) == [.key(limit: 128), .key(limit: 128)])
        #expect(Set(try #require(ledger.hub(store)).entries.keys) == ["a", "c"])
    }

    @Test("removals are accepted and answered although tombstones cannot be forgotten for now")
    func forgottenLater() throws {
        let storage = SimulatedDisk().storage()
        var options = Ledger.Options()
        // Room for one removal, but not for what forgets 256 of them.
        options.segmentByteCount = 4_096
        let ledger = try Ledger(storage: storage, options: options, seed: 1)
        let count = WireLimits.tombstoneCount + 256
        let removals = (0..<count).map { StoreRecord.other("k \($0)", nil) }
        _ = try ledger.apply(request(removals), to: store, now: now)
        // The first segment is for the removal, the second one for what forgets.
        storage.aim(.fail(28), at: .create, number: 2)
        _ = try ledger.apply(request([.other("late", nil)]), to: store, now: now)
        #expect(try #require(ledger.hub(store)).entries.count == count + 1)
        try ledger.sync()
        #expect(ledger.durableSequence(of: store) == UInt64(count + 1))
        #expect(try ledger.apply(request([]), to: store, now: now).changes.count > 0)
        _ = try ledger.apply(request([.other("later", nil)]), to: store, now: now)
        #expect(try #require(ledger.hub(store)).entries.count == WireLimits.tombstoneCount)
    }
}
