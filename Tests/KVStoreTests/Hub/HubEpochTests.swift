import KVStoreTesting
import Testing

@testable import KVStore

@Suite("Epochs of the daemon")
struct HubEpochTests {
    @Test("an epoch that the present one grew out of goes on; what lies beyond its end does not")
    func lineage() {
        var hub = Hub(epoch: "first")
        hub.load(
            epochs: [Hub.Epoch(id: "first", start: 0), Hub.Epoch(id: "second", start: 5)],
            sequence: 8, horizon: 0, clockMilliseconds: 0)
        #expect(hub.epoch == "second")
        #expect(!hub.startsOver(epoch: "first", since: 5))
        #expect(hub.startsOver(epoch: "first", since: 6))
        #expect(!hub.startsOver(epoch: "second", since: 8))
        #expect(hub.startsOver(epoch: "second", since: 9))
        #expect(hub.startsOver(epoch: "third", since: 0))
        #expect(hub.endsStream(epoch: "first", since: 5))
        #expect(!hub.endsStream(epoch: "second", since: 5))
        #expect([5, 6, 8].map { hub.epoch(at: $0) } == ["first", "second", "second"])
    }

    @Test("after a start the first change begins an epoch, and a restart without changes none")
    func begins() throws {
        let disk = SimulatedDisk()
        func ledger(_ seed: UInt64) throws -> HubLedger {
            var options = HubLedger.Options()
            options.segmentByteCount = 65_536
            return try HubLedger(storage: disk.storage(), options: options, seed: seed)
        }
        let store = StoreID(account: "a", name: "s")
        func write(_ key: String, _ ledger: HubLedger) throws -> SyncResponse {
            try ledger.apply(
                SyncRequest(
                    replica: "1", epoch: ledger.hub(store)?.epoch,
                    since: ledger.hub(store)?.sequence ?? 0,
                    changes: [.other(key, "1", at: 1_000)]),
                to: store, now: 2_000)
        }
        var epochs: [String] = []
        for number in 0..<40 {
            var opened = try ledger(UInt64(2 * number))
            try opened.close()
            opened = try ledger(UInt64(2 * number + 1))
            let before = opened.hub(store)?.epoch
            #expect(before == epochs.last)
            let answer = try write("\(number)", opened)
            #expect(answer.epoch != before)
            #expect(try write("x\(number)", opened).epoch == answer.epoch)
            epochs.append(answer.epoch)
            try opened.close()
        }
        let hub = try #require(try ledger(99).hub(store))
        #expect(hub.epochs.map(\.id) == epochs.suffix(32))
        #expect(hub.epochs.last?.start == 78)
    }

    @Test(
        "numbers that an older copy of the files gives again are not taken for those given before")
    func restoredCopy() throws {
        let disk = SimulatedDisk()
        let store = StoreID(account: "a", name: "s")
        func sync(_ ledger: HubLedger, _ epoch: String?, _ since: UInt64, _ keys: String...) throws
            -> SyncResponse
        {
            try ledger.apply(
                SyncRequest(
                    replica: "1", epoch: epoch, since: since,
                    changes: keys.map { .other($0, "1", at: 1_000) }),
                to: store, now: 2_000)
        }
        let first = try HubLedger(storage: disk.storage(), seed: 1)
        let started = try sync(first, nil, 0, "a")
        try first.close()
        let backup = disk.copy()
        let second = try HubLedger(storage: disk.storage(), seed: 2)
        let seen = try sync(second, started.epoch, 1, "lost 1", "lost 2")
        #expect(!seen.initial && seen.cursor == 3)

        let restored = try HubLedger(storage: backup.storage(), seed: 3)
        let other = try sync(restored, started.epoch, 1, "new 1", "new 2", "new 3")
        #expect(!other.initial && other.cursor == 4)
        let answer = try sync(restored, seen.epoch, seen.cursor)
        #expect(answer.initial)
        #expect(answer.changes.map(\.key) == ["a", "new 1", "new 2", "new 3"])
        #expect(answer.lineage?.contains { $0.epoch == seen.epoch } == false)
    }

    @Test("what was cut from the end of the log ends its history")
    func cut() throws {
        let disk = SimulatedDisk()
        let store = StoreID(account: "a", name: "s")
        let first = try HubLedger(storage: disk.storage(), seed: 1)
        let answer = try first.apply(
            SyncRequest(
                replica: "1", epoch: nil, since: 0, changes: [.other("a", "1", at: 1_000)]),
            to: store, now: 2_000)
        try first.close()
        let end = disk.lastByte(of: 1)!
        disk.damage(1, at: end) { $0 ^ 1 }
        let second = try HubLedger(storage: disk.storage(), seed: 2)
        let hub = try #require(second.hub(store))
        #expect(hub.entries.isEmpty)
        #expect(hub.startsOver(epoch: answer.epoch, since: 0))
        #expect(hub.lineage.map(\.epoch) == [answer.epoch, hub.epoch])
    }

    @Test(
        "a stamp that follows one taken in while the clock was ahead is not refused, also after a restart"
    )
    func clockWasAhead() throws {
        let disk = SimulatedDisk()
        let store = StoreID(account: "a", name: "s")
        func rejected(_ ledger: HubLedger, _ milliseconds: Int64, now: Int64) throws -> Int {
            try ledger.apply(
                SyncRequest(
                    replica: "1", epoch: nil, since: 0,
                    changes: [.other("k\(milliseconds)", nil, at: milliseconds)]),
                to: store, now: now
            ).rejected.count
        }
        let first = try HubLedger(storage: disk.storage(), seed: 1)
        #expect(try rejected(first, 900_000, now: 900_000) == 0)
        #expect(try rejected(first, 900_000, now: 1_000) == 0)
        #expect(try rejected(first, 900_001, now: 1_000) == 1)
        try first.collectTombstones(of: store, now: WireLimits.tombstoneMilliseconds + 1_000_000)
        #expect(first.hub(store)?.entries.isEmpty == true)
        try first.close()
        let second = try HubLedger(storage: disk.storage(), seed: 2)
        #expect(try rejected(second, 900_000, now: 1_000) == 0)
    }
}
