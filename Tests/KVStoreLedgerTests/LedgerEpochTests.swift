import KVStoreCore
import KVStoreSimulation
import StoreTestSupport
import Testing

@testable import KVStoreLedger

@Suite("Epochs of a ledger")
struct LedgerEpochTests {
    private let store = StoreID(account: "a", name: "s")

    private func open(
        _ disk: SimulatedDisk, seed: UInt64, segmentByteCount: Int = 16 * 1_024 * 1_024
    ) throws -> Ledger {
        var options = Ledger.Options()
        options.segmentByteCount = segmentByteCount
        return try Ledger(storage: disk.storage(), options: options, seed: seed)
    }

    private func sync(_ ledger: Ledger, since: SyncCursor?, _ keys: StoreKey...) throws -> SyncResponse {
        try ledger.apply(
            SyncRequest(
                replica: ReplicaID(rawValue: 1), since: since, changes: keys.map { .other($0, "1", at: 1_000) }),
            to: store, now: 2_000)
    }

    @Test("the first change after a start begins an epoch; a restart without changes does not")
    func begins() throws {
        let disk = SimulatedDisk()
        func ledger(_ seed: UInt64) throws -> Ledger {
            try open(disk, seed: seed, segmentByteCount: 65_536)
        }
        func write(_ key: StoreKey, _ ledger: Ledger) throws -> EpochID {
            try sync(ledger, since: ledger.hub(store)?.end, key).cursor.epoch
        }
        var epochs: [EpochID] = []
        for number in 0..<40 {
            var opened = try ledger(UInt64(2 * number))
            try opened.close()
            opened = try ledger(UInt64(2 * number + 1))
            let before = opened.hub(store)?.end.epoch
            #expect(before == epochs.last)
            let epoch = try write("\(number)", opened)
            #expect(epoch != before)
            #expect(try write("x\(number)", opened) == epoch)
            epochs.append(epoch)
            try opened.close()
        }
        let hub = try #require(try ledger(99).hub(store))
        #expect(hub.state.epochs.map(\.id) == epochs.suffix(32))
        #expect(hub.state.epochs.last?.start == 78)
    }

    @Test("sequence numbers reissued after a restored backup belong to another epoch")
    func restoredCopy() throws {
        let disk = SimulatedDisk()
        let first = try open(disk, seed: 1)
        let started = try sync(first, since: nil, "a")
        let start = SyncCursor(epoch: started.cursor.epoch, sequence: 1)
        try first.close()
        let backup = disk.copy()
        let second = try open(disk, seed: 2)
        let seen = try sync(second, since: start, "lost 1", "lost 2")
        #expect(!seen.isInitial && seen.cursor.sequence == 3)

        let restored = try open(backup, seed: 3)
        let other = try sync(restored, since: start, "new 1", "new 2", "new 3")
        #expect(!other.isInitial && other.cursor.sequence == 4)
        let answer = try sync(restored, since: seen.cursor)
        #expect(answer.isInitial)
        #expect(answer.changes.map(\.record.key) == ["a", "new 1", "new 2", "new 3"])
        #expect(!answer.lineage.isEmpty)
        #expect(answer.lineage.contains { $0.epoch == seen.cursor.epoch } == false)
    }

    @Test("a write cut from the end of the log breaks its epoch")
    func cut() throws {
        let disk = SimulatedDisk()
        let first = try open(disk, seed: 1)
        let answer = try sync(first, since: nil, "a")
        try first.close()
        let end = disk.lastByte(of: 1)!
        disk.damage(1, at: end) { $0 ^ 1 }
        let hub = try #require(try open(disk, seed: 2).hub(store))
        #expect(hub.entries.isEmpty)
        #expect(hub.startsOver(since: SyncCursor(epoch: answer.cursor.epoch, sequence: 0)))
        #expect(hub.lineage.map(\.epoch) == [answer.cursor.epoch, hub.end.epoch])
    }

    @Test("stamps up to the greatest accepted one stay valid after the clock is corrected")
    func clockWasAhead() throws {
        let disk = SimulatedDisk()
        func rejections(_ ledger: Ledger, _ milliseconds: Int64, now: Int64) throws -> Int {
            try ledger.apply(
                SyncRequest(
                    replica: ReplicaID(rawValue: 1), since: nil,
                    changes: [.other("k\(milliseconds)", nil, at: milliseconds)]), to: store, now: now
            ).rejections.count
        }
        let first = try open(disk, seed: 1)
        #expect(try rejections(first, 900_000, now: 900_000) == 0)
        #expect(try rejections(first, 900_000, now: 1_000) == 0)
        #expect(try rejections(first, 900_001, now: 1_000) == 1)
        try first.collectTombstones(of: store, now: WireLimits.tombstoneMilliseconds + 1_000_000)
        #expect(first.hub(store)?.entries.isEmpty == true)
        try first.close()
        let second = try open(disk, seed: 2)
        #expect(try rejections(second, 900_000, now: 1_000) == 0)
    }
}
