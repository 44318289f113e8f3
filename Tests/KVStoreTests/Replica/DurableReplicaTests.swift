import Foundation
import KVStoreLog
import KVStoreSimulation
import LocalFiles
import StoreTestSupport
import Testing

@testable import KVStoreEssentials
@testable import KVStoreCore

@Suite("Durable replica")
struct DurableReplicaTests {
    private let now = Instant(wall: 1_000_000, monotonic: 1_000)

    private func open(
        _ storage: SimulatedStorage, seed: UInt64 = 1, segmentByteCount: Int = 4_096
    ) throws -> DurableReplica {
        var options = DurableReplica.Options()
        options.segmentByteCount = segmentByteCount
        return try DurableReplica(storage: storage, options: options, seed: seed)
    }

    @discardableResult
    private func set(
        _ durable: DurableReplica, _ key: StoreKey, _ value: String
    ) throws -> Ready {
        try durable.transact(at: now) { replica, now in
            replica.write([key: .value(Data(value.utf8))], at: now).ready
        }
    }

    private func values(_ durable: DurableReplica) -> [StoreKey: String] {
        durable.replica.visibleContents.compactMapValues { content in
            if case .value(let data) = content {
                String(decoding: data, as: UTF8.self)
            } else {
                nil
            }
        }
    }

    private func attach(_ durable: DurableReplica) throws {
        _ = try durable.transact(at: now) { $0.handle(.attached(isLive: false), at: $1) }
        _ = try durable.transact(at: now) { $0.synchronize(at: $1).ready }
        // The horizon is beyond every cursor: a replica that starts over cannot know of all removals.
        try answer(
            durable,
            SyncResponse(
                cursor: SyncCursor(epoch: "e", sequence: 3), serverTime: now.wall, isInitial: true,
                changes: [.other("theirs", "1")], horizon: .max, lineage: [SyncCursor(epoch: "e", sequence: .max)]))
    }

    /// Answers the request under way.
    private func answer(_ durable: DurableReplica, _ response: SyncResponse) throws {
        let id = try #require(durable.replica.session.exchange).id
        _ = try durable.transact(at: now) { replica, now in
            replica.handle(.answered(id: id, .success(response)), at: now)
        }
    }

    /// What a change of another process requires.
    private func notification(of key: String) -> Ready {
        var ready = Ready()
        ready.notifications = [StoreChange(reason: .serverChange, keys: [key])]
        return ready
    }

    @Test("an answer torn at any byte leaves neither its records nor its cursor")
    func tornAnswer() throws {
        let whole = SimulatedDisk()
        let durable = try open(whole.storage())
        try attach(durable)
        try set(durable, "a", "1")
        let before = durable.replica
        let start = try #require(whole.lastByte(of: 1)) / 8 * 8 + 8
        try answer(
            durable,
            SyncResponse(
                cursor: SyncCursor(epoch: "e", sequence: 6), serverTime: now.wall,
                changes: [.other("theirs", "2"), .other("b", "1")]))
        let end = try #require(whole.lastByte(of: 1))
        #expect(end > start)
        for cut in start..<end {
            let disk = whole.copy()
            for offset in cut...end { disk.damage(1, at: offset) { _ in 0 } }
            let again = try open(disk.storage(), seed: 2)
            #expect(again.recovery.damage.isEmpty)
            #expect(again.replica.table == before.table, "cut at \(cut)")
            let cursor = again.replica.state.cursor
            #expect(cursor == SyncCursor(epoch: "e", sequence: 3), "cut at \(cut)")
        }
        #expect(try open(whole.storage()).replica.table == durable.replica.table)
    }

    @Test("after damage to the end of the first download later writes are still sent")
    func damagedFirstDownload() throws {
        let disk = SimulatedDisk()
        let durable = try open(disk.storage())
        try set(durable, "theirs", "a default")
        let start = try #require(disk.lastByte(of: 1)) / 8 * 8 + 8
        try attach(durable)
        try set(durable, "theirs", "2")
        // The answer is one frame.
        disk.damage(1, at: start + 20) { ~$0 }
        let again = try open(disk.storage(), seed: 2)
        #expect(again.recovery.damage.count == 1)
        #expect(again.replica.state.initialSyncCompleted)
        #expect(values(again) == ["theirs": "2"])
        try attach(again)
        #expect(values(again) == ["theirs": "2"])
        #expect(again.replica.table.pendingKeys == ["theirs"])
    }

    @Test("after damage to the state of a rewritten log pending keys are still sent")
    func damagedLastState() throws {
        let disk = SimulatedDisk()
        let storage = disk.storage()
        let durable = try open(storage, segmentByteCount: 512)
        try attach(durable)
        var number = 0
        while disk.segments.first != 4 {
            number += 1
            try set(durable, "theirs", "\(number)")
        }
        let end = try #require(disk.lastByte(of: 4))
        disk.damage(4, at: end) { ~$0 }
        let again = try open(disk.storage(), seed: 2)
        #expect(again.recovery.tornTail != nil && again.recovery.damage.isEmpty)
        #expect(again.replica.id != durable.replica.id)
        #expect(again.replica.state.initialSyncCompleted)
        try attach(again)
        #expect(values(again) == ["theirs": "\(number)"])
        #expect(again.replica.table.pendingKeys == ["theirs"])
    }

    @Test("a reopened replica has its id, state, keys and pending keys")
    func reopen() throws {
        let disk = SimulatedDisk()
        let first = try open(disk.storage())
        try attach(first)
        try set(first, "a", "1")
        let again = try open(disk.storage(), seed: 2)
        #expect(again.replica.id == first.replica.id)
        #expect(again.replica.currentState == first.replica.currentState)
        #expect(again.replica.table == first.replica.table)
        #expect(again.replica.table.pendingKeys == ["a"])
        #expect(values(again) == ["a": "1", "theirs": "1"])
    }

    @Test("two processes are notified of each other's writes with reason 0, never of their own")
    func twoProcesses() throws {
        let disk = SimulatedDisk()
        let first = try open(disk.storage(), seed: 1)
        let second = try open(disk.storage(), seed: 2)
        #expect(try set(first, "a", "1") == Ready())
        #expect(try second.catchUp(at: now) == notification(of: "a"))
        #expect(second.replica.id == first.replica.id)
        // A write first applies what the process has missed.
        try set(first, "b", "1")
        #expect(try set(second, "c", "1") == notification(of: "b"))
        #expect(try first.catchUp(at: now) == notification(of: "c"))
        #expect(values(first) == values(second))
        #expect(try first.catchUp(at: now) == Ready())
    }

    @Test("processes that write alternately across many compactions stay equal", arguments: 1...20)
    func compaction(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let disk = SimulatedDisk()
        var processes = try (1...3).map {
            try open(disk.storage(), seed: UInt64($0), segmentByteCount: 1_024)
        }
        var expected: [StoreKey: String] = [:]
        for number in 0..<300 {
            let index = Int.random(in: 0..<3, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0: _ = try processes[index].catchUp(at: now)
            case 1: processes[index] = try open(disk.storage(), seed: UInt64(number), segmentByteCount: 1_024)
            default:
                let key: StoreKey = "key \(Int.random(in: 0..<10, using: &random))"
                try set(processes[index], key, "\(number)")
                expected[key] = "\(number)"
            }
        }
        for process in processes {
            _ = try process.catchUp(at: now)
            #expect(values(process) == expected, "seed \(seed)")
        }
        #expect(disk.segments.count < 3)
        #expect(disk.segments.last! > 10)
    }

    @Test("without space for a segment a write throws and changes nothing, and reads continue")
    func noSpace() throws {
        let storage = SimulatedDisk().storage()
        let durable = try open(storage, segmentByteCount: 512)
        try attach(durable)
        storage.aim(.fail(28), at: .create, times: .max)
        var stored = 0
        var before = durable.replica
        do {
            while stored < 50 {
                before = durable.replica
                try set(durable, "key \(stored)", "value")
                stored += 1
            }
            Issue.record("there is no space")
        } catch let LogError.storage(failure) {
            #expect(failure.isOutOfSpace)
        }
        #expect(durable.replica.table == before.table)
        #expect(durable.replica.session.exchange == before.session.exchange)
        #expect(values(durable).count == stored + 1)
        storage.heal()
        try set(durable, "later", "1")
        #expect(values(durable).count == stored + 2)
    }

    @Test("a failed write leaves no unsent request under way")
    func nothingStuck() throws {
        let storage = SimulatedDisk().storage()
        let durable = try open(storage)
        try attach(durable)
        storage.aim(.fail(5), at: .write)
        #expect(throws: LogError.self) { try set(durable, "a", "1") }
        #expect(durable.replica.session.exchange == nil)
        #expect(durable.replica.table.pendingKeys == [])
        let outgoing = try #require(try set(durable, "a", "2").request)
        #expect(outgoing.request.changes.map(\.key) == ["a"])
    }

    @Test("a log that cannot be rewritten for lack of space still accepts writes")
    func compactionWithoutSpace() throws {
        let disk = SimulatedDisk()
        let storage = disk.storage()
        let durable = try open(storage, segmentByteCount: 512)
        var number = 0
        while disk.segments.count < 2 {
            try set(durable, "key", "\(number)")
            number += 1
        }
        // The next segment can be created, the one after it not.
        while disk.segments == [1, 2] {
            storage.aim(.fail(28), at: .create, number: 2)
            try set(durable, "key", "\(number)")
            number += 1
        }
        #expect(disk.segments == [1, 2, 3])
        #expect(values(durable) == ["key": "\(number - 1)"])
        storage.heal()
        try set(durable, "key", "last")
        #expect(disk.segments == [4])
        #expect(values(try open(disk.storage())) == ["key": "last"])
    }

    @Test("what others wrote is not lost if reading it fails halfway")
    func interruptedCatchUp() throws {
        let disk = SimulatedDisk()
        let storage = disk.storage()
        let first = try open(storage, seed: 1)
        let second = try open(disk.storage(), seed: 2)
        try set(first, "a", "1")
        try set(second, "b", "1")
        // After the new records are read, no file descriptor is left to list the directory.
        storage.aim(.fail(24), at: .segments, times: .max)
        #expect(throws: LogError.self) { try first.catchUp(at: now) }
        #expect(throws: LogError.self) { try set(first, "c", "1") }
        storage.heal()
        #expect(try set(first, "c", "1") == notification(of: "b"))
        #expect(values(first) == ["a": "1", "b": "1", "c": "1"])
    }

    @Test("an entry of a newer program is kept, and nothing more is written")
    func newerEntry() throws {
        let disk = SimulatedDisk()
        let durable = try open(disk.storage())
        try set(durable, "a", "1")
        let newer = SegmentedLog.over(disk.storage())
        _ = try newer.openReading()
        try newer.appendExclusively([LogPayload(kind: 77, bytes: [1])])
        let before = disk.bytes(of: 1)
        for _ in 0..<3 { #expect(throws: LogError.self) { try set(durable, "b", "1") } }
        #expect(disk.bytes(of: 1) == before)
        #expect(throws: LogError.self) { try open(disk.storage()) }
        #expect(values(durable) == ["a": "1"])
    }

    @Test("whatever byte is damaged, a replica opens, keeps all other keys and accepts writes")
    func damage() throws {
        let whole = SimulatedDisk()
        let durable = try open(whole.storage(), segmentByteCount: 1_024)
        try attach(durable)
        for number in 0..<5 { try set(durable, "key \(number)", "\(number)") }
        let end = try #require(whole.lastByte(of: 1))
        for offset in 0...end {
            let disk = whole.copy()
            disk.damage(1, at: offset) { $0 ^ 0x40 }
            let opened = try open(disk.storage(), seed: 9, segmentByteCount: 1_024)
            let isLogID = (16..<24).contains(offset)
            let kept = values(opened)
            #expect(kept.count >= (isLogID ? 0 : 5), "byte \(offset): \(kept)")
            #expect(kept.allSatisfy { values(durable)[$0.key] == $0.value })
            #expect(opened.recovery.damage.isEmpty == opened.recovery.quarantined.isEmpty)
            if !opened.recovery.damage.isEmpty {
                #expect(opened.replica.state.cursor == nil)
                #expect(disk.segments == [2])
            }
            try set(opened, "after", "1")
            let again = try open(disk.storage(), seed: 10, segmentByteCount: 1_024)
            #expect(again.recovery.damage.isEmpty)
            #expect(again.replica.table == opened.replica.table, "byte \(offset)")
        }
    }

    @Test("another process continues after one has quarantined a damaged file")
    func damageWithOthers() throws {
        let disk = SimulatedDisk()
        let first = try open(disk.storage(), seed: 1)
        for number in 0..<5 { try set(first, "key \(number)", "\(number)") }
        disk.damage(1, at: 5) { ~$0 }
        let second = try open(disk.storage(), seed: 2)
        #expect(second.recovery.quarantined.count == 1)
        try set(second, "second", "1")
        try set(first, "first", "1")
        _ = try second.catchUp(at: now)
        #expect(values(first) == values(second))
        #expect(values(first).count == 7)
    }
}
