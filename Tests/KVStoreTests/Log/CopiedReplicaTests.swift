import Foundation
import KVStoreTesting
import Testing
import TestSupport

@testable import KVStore

@Suite("Copied and restored replicas")
struct CopiedReplicaTests {
    private static let now = Moment(wall: 1_000, monotonic: 0)

    private func open(_ disk: SimulatedDisk, seed: UInt64) throws -> DurableReplica {
        try DurableReplica(
            storage: disk.storage(), options: DurableReplica.Options(), seed: seed)
    }

    private func write(_ text: String, to durable: DurableReplica) throws -> Stamp {
        _ = try durable.transact(at: Self.now) { replica, now in
            replica.write(.value(Data(text.utf8)), forKey: "k", at: now).effects
        }
        return try #require(durable.replica.records.first).stamp
    }

    /// A disk whose last record, of a second write, is damaged, and that record's stamp. It may have been sent before.
    private func cutDisk() throws -> (disk: SimulatedDisk, lost: Stamp) {
        let disk = SimulatedDisk()
        let first = try open(disk, seed: 1)
        _ = try write("1", to: first)
        let lost = try write("2", to: first)
        disk.damage(1, at: try #require(disk.lastByte(of: 1))) { $0 ^ 1 }
        return (disk, lost)
    }

    @Test("a copy takes a new id before its first stamp; in its own place a replica keeps its id")
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

    @Test("two programs that find a copied replica agree on its new id")
    func twoPrograms() throws {
        let disk = SimulatedDisk()
        _ = try write("1", to: open(disk, seed: 1))
        let copy = disk.movedCopy()
        let (left, right) = (try open(copy, seed: 2), try open(copy, seed: 3))
        let stamp = try write("2", to: left)
        #expect(try write("3", to: right).replica == stamp.replica)
        #expect(try write("4", to: left).replica == stamp.replica)
    }

    @Test("a replica whose last record was cut gives that record's stamp to nothing else")
    func cutRecord() throws {
        let (disk, lost) = try cutDisk()
        let second = try open(disk, seed: 2)
        #expect(second.recovery.tornTail != nil)
        let stamp = try write("3", to: second)
        #expect(stamp != lost)
        #expect(stamp.replica != lost.replica)
        #expect(try open(disk, seed: 3).replica.id == stamp.replica)
    }

    @Test(
        "a cut record's stamp is given to nothing else, also where there is no space for a while to say so"
    )
    func cutRecordWithoutSpace() throws {
        let (disk, lost) = try cutDisk()
        for seed in UInt64(2)...3 {
            let storage = disk.storage()
            storage.aim(.fail(ENOSPC), at: .create, times: .max)
            let durable = try DurableReplica(
                storage: storage, options: DurableReplica.Options(), seed: seed)
            #expect(durable.recovery.tornTail != nil)
            #expect(throws: LogError.self) { try write("3", to: durable) }
            #expect(durable.replica.records.map(\.content) == [.value(Data("1".utf8))])
            // What writes nothing goes on.
            let effects = try durable.transact(at: Self.now) { replica, now in
                replica.handle(.attached(isLive: true), at: now)
            }
            #expect(effects.count == 1)
        }
        let later = try open(disk, seed: 4)
        let stamp = try write("4", to: later)
        #expect(stamp.replica != lost.replica)
        let last = try open(disk, seed: 5)
        #expect(last.recovery.tornTail == nil)
        #expect(last.replica.id == stamp.replica)
    }

    @Test("files that were copied elsewhere have another identity, in their place always the same")
    func files() throws {
        let folder = try TemporaryDirectory()
        let first = try FileLogStorage(directory: folder.path + "/a").identity
        #expect(try FileLogStorage(directory: folder.path + "/a").identity == first)
        try FileManager.default.copyItem(atPath: folder.path + "/a", toPath: folder.path + "/b")
        #expect(try FileLogStorage(directory: folder.path + "/b").identity != first)
    }
}
