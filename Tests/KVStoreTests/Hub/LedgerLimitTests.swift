import Foundation
import KVStoreTesting
import Testing

@testable import KVStore

@Suite("Limits of the daemon's ledger")
struct LedgerLimitTests {
    private let store = StoreID(account: "one", name: "default")
    private let now: Int64 = 1_000_000

    private func ledger(
        _ disk: SimulatedDisk, liveByteLimit: Int = 1 << 30, seed: UInt64 = 1
    ) throws -> HubLedger {
        var options = HubLedger.Options()
        options.liveByteLimit = liveByteLimit
        return try HubLedger(storage: disk.storage(), options: options, seed: seed)
    }

    private func request(
        _ changes: [SyncChange], epoch: String? = nil, since: UInt64 = 0
    ) -> SyncRequest {
        SyncRequest(replica: "r", epoch: epoch, since: since, changes: changes)
    }

    @Test("a daemon that holds all it may refuses what grows, keeps the rest and takes removals")
    func full() throws {
        let disk = SimulatedDisk()
        let ledger = try ledger(disk, liveByteLimit: 10)
        _ = try ledger.apply(request([.other("a", "12345678")]), to: store, now: now)
        #expect(throws: HubLedger.Fault.full(limit: 10)) {
            _ = try ledger.apply(
                request([.other("b", "1"), .other("c", "23")]), to: store, now: now)
        }
        let hub = try #require(ledger.hub(store))
        #expect(Set(hub.entries.keys) == ["a"] && hub.sequence == 1)
        // A full daemon still answers those who only ask, and takes what makes room.
        #expect(try ledger.apply(request([]), to: store, now: now).changes.count == 1)
        _ = try ledger.apply(
            request([.other("a", nil, at: 600_000)]), to: store, now: now)
        _ = try ledger.apply(
            request([.other("b", "12345678")]), to: store, now: now)
        #expect(ledger.liveByteCount == 8)
        try ledger.close()
        // Nothing of the refused request came into the log either.
        let again = try self.ledger(disk, seed: 2)
        #expect(Set(try #require(again.hub(store)).entries.keys) == ["a", "b"])
        #expect(again.liveByteCount == 8)
    }

    @Test("a full daemon takes a value in place of one that is as large, and counts a key once")
    func replaced() throws {
        let ledger = try ledger(SimulatedDisk(), liveByteLimit: 10)
        _ = try ledger.apply(request([.other("a", "1234567890")]), to: store, now: now)
        _ = try ledger.apply(
            request([
                .other("a", "0987654321", at: 600_000), .other("a", "12345", at: 700_000),
                .other("b", "67890", at: 600_000),
            ]), to: store, now: now)
        #expect(ledger.liveByteCount == 10)
        #expect(throws: HubLedger.Fault.full(limit: 10)) {
            _ = try ledger.apply(
                request([.other("a", "123456", at: 800_000)]), to: store, now: now)
        }
        #expect(ledger.hub(store)?.entries["a"]?.record.content == .value(Data("12345".utf8)))
    }

    @Test("removals beyond 4,096 are forgotten by themselves, and readers below them start over")
    func collection() throws {
        let disk = SimulatedDisk()
        let ledger = try ledger(disk)
        let count = WireLimits.tombstoneCount + 300
        for start in stride(from: 0, to: count, by: 100) {
            let changes = (start..<start + 100).filter { $0 < count }.map {
                SyncChange.other("k\($0)", nil, at: 500_000 + Int64($0))
            }
            _ = try ledger.apply(request(changes), to: store, now: now)
        }
        let hub = try #require(ledger.hub(store))
        #expect(hub.tombstoneCount <= WireLimits.tombstoneCount + 256)
        #expect(hub.entries["k0"] == nil && hub.entries["k\(count - 1)"] != nil)
        #expect(hub.horizon == UInt64(count - hub.entries.count))
        let present = try ledger.apply(
            request([], epoch: hub.epoch, since: hub.horizon), to: store, now: now)
        #expect(!present.initial)
        let late = try ledger.apply(
            request([], epoch: hub.epoch, since: hub.horizon - 1), to: store, now: now)
        #expect(late.initial)
        try ledger.close()
        let again = try self.ledger(disk, seed: 2)
        #expect(again.hub(store)?.horizon == hub.horizon)
        #expect(again.hub(store)?.entries == hub.entries)
    }

    @Test(
        "a loser whose winner does not fit into the answer is asked to come again, and is told then"
    )
    func winnersInTurn() throws {
        let ledger = try ledger(SimulatedDisk())
        let large = String(repeating: "v", count: 900_000)
        for key in ["a", "b"] {
            _ = try ledger.apply(
                request([.other(key, large, at: 600_000)]), to: store, now: now)
        }
        let hub = try #require(ledger.hub(store))
        let losers = ["a", "b"].map { SyncChange.other($0, "small", at: 1) }
        let first = try ledger.apply(
            request(losers, epoch: hub.epoch, since: hub.sequence), to: store, now: now)
        #expect(first.changes.map(\.key) == ["a"])
        #expect(
            first.rejected == [
                SyncRejection(key: "b", reason: SyncRejection.again, stamp: losers[1].stamp)
            ])
        let second = try ledger.apply(
            request([losers[1]], epoch: hub.epoch, since: hub.sequence), to: store, now: now)
        #expect(second.changes.map(\.key) == ["b"] && second.rejected.isEmpty)
        #expect(ledger.hub(store)?.sequence == 2)
    }

    @Test("changes for no usable key are refused one by one, and the others are taken")
    func badKeys() throws {
        let ledger = try ledger(SimulatedDisk())
        let bad = SyncChange(key: "b", stamp: "x", deleted: true)
        let answer = try ledger.apply(
            request([.other("a", "1"), bad, .other("c", "1")]), to: store, now: now)
        #expect(answer.rejected.map(\.key) == ["b"])
        #expect(answer.rejected.map(\.reason) == [SyncRejection.key])
        #expect(Set(try #require(ledger.hub(store)).entries.keys) == ["a", "c"])
    }

    @Test("removals that cannot be forgotten for now are taken and answered all the same")
    func forgottenLater() throws {
        let storage = SimulatedDisk().storage()
        let ledger = try HubLedger(storage: storage, options: HubLedger.Options(), seed: 1)
        let count = WireLimits.tombstoneCount + 256
        let removals = (0..<count).map { SyncChange.other("k \($0)", nil) }
        _ = try ledger.apply(request(removals), to: store, now: now)
        // The first write is the removal, the second one forgets.
        storage.aim(.fail(28), at: .write, number: 2)
        _ = try ledger.apply(request([.other("late", nil)]), to: store, now: now)
        #expect(try #require(ledger.hub(store)).entries.count == count + 1)
        try ledger.sync()
        #expect(ledger.durableSequence(of: store) == UInt64(count + 1))
        #expect(try ledger.apply(request([]), to: store, now: now).changes.count > 0)
        _ = try ledger.apply(request([.other("later", nil)]), to: store, now: now)
        #expect(try #require(ledger.hub(store)).entries.count == WireLimits.tombstoneCount)
    }
}
