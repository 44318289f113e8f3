import Foundation
import KVStoreCore
import KVStoreLog
import KVStoreSimulation
import StoreTestSupport
import Testing

@testable import KVStoreEssentials

@Suite("Copied and restored replicas")
struct CopiedReplicaTests {
    private static let now = Instant(wall: 1_000, monotonic: 0)

    private func open(_ disk: SimulatedDisk, seed: UInt64) throws -> DurableReplica {
        try DurableReplica(storage: disk.storage(), options: DurableReplica.Options(), seed: seed)
    }

    private func write(_ text: String, to durable: DurableReplica) throws -> StoreStamp {
        _ = try durable.transact(at: Self.now) { replica, now in
            replica.write(["k": .value(Data(text.utf8))], at: now).ready
        }
        return try #require(durable.replica.table["k"]).record.stamp
    }

    /// A disk whose last record, of a second write, is damaged, with the stamp of that record. It may have been sent.
    private func cutDisk() throws -> (disk: SimulatedDisk, lost: StoreStamp) {
        let disk = SimulatedDisk()
        let first = try open(disk, seed: 1)
        _ = try write("1", to: first)
        let lost = try write("2", to: first)
        disk.damage(1, at: try #require(disk.lastByte(of: 1))) { $0 ^ 1 }
        return (disk, lost)
    }

    @Test("a copy takes a new id before its first stamp, and the original keeps its id")
    func copied() throws {
        let disk = SimulatedDisk()
        let original = try open(disk, seed: 1)
        let first = try write("1", to: original)
        let copy = disk.movedCopy()

        let reopened = try open(disk, seed: 2)
        #expect(reopened.replica.id == first.replica)
        #expect(try write("2", to: reopened).replica == first.replica)

        let moved = try open(copy, seed: 3)
        let stamp = try write("3", to: moved)
        #expect(stamp.replica != first.replica)
        #expect(stamp > first)
        #expect(try open(copy, seed: 4).replica.id == stamp.replica)
    }

    @Test("two programs that open a copied replica agree on its new id")
    func twoPrograms() throws {
        let disk = SimulatedDisk()
        _ = try write("1", to: open(disk, seed: 1))
        let copy = disk.movedCopy()
        let (left, right) = (try open(copy, seed: 2), try open(copy, seed: 3))
        let stamp = try write("2", to: left)
        #expect(try write("3", to: right).replica == stamp.replica)
        #expect(try write("4", to: left).replica == stamp.replica)
    }

    @Test("a replica never reissues the stamp of a cut record")
    func cutRecord() throws {
        let (disk, lost) = try cutDisk()
        let second = try open(disk, seed: 2)
        #expect(second.recovery.tornTail != nil)
        let stamp = try write("3", to: second)
        #expect(stamp != lost)
        #expect(stamp.replica != lost.replica)
        #expect(try open(disk, seed: 3).replica.id == stamp.replica)
    }

    @Test("a replica never reissues the stamp of a cut record, even if the disk is full for a while")
    func cutRecordWithoutSpace() throws {
        let (disk, lost) = try cutDisk()
        for seed in UInt64(2)...3 {
            let storage = disk.storage()
            storage.aim(.fail(ENOSPC), at: .create, times: .max)
            let durable = try DurableReplica(storage: storage, options: DurableReplica.Options(), seed: seed)
            #expect(durable.recovery.tornTail != nil)
            #expect(throws: LogError.self) { try write("3", to: durable) }
            #expect(durable.replica.table.entries.values.map(\.record.content) == [.value(Data("1".utf8))])
            // An event without entries succeeds.
            let ready = try durable.transact(at: Self.now) { replica, now in
                replica.handle(.attached(isLive: true), at: now)
            }
            #expect(ready.request != nil)
            var expected = Ready()
            expected.request = ready.request
            #expect(ready == expected)
        }
        let later = try open(disk, seed: 4)
        let stamp = try write("4", to: later)
        #expect(stamp.replica != lost.replica)
        let last = try open(disk, seed: 5)
        #expect(last.recovery.tornTail == nil)
        #expect(last.replica.id == stamp.replica)
    }
}
