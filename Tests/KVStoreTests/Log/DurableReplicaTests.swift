import Foundation
import KVStoreTesting
import Testing

@testable import KVStore

@Suite("Durable replica")
struct DurableReplicaTests {
    private let now = Moment(wall: 1_000_000, monotonic: 1_000)

    private func open(
        _ storage: SimulatedStorage, seed: UInt64 = 1, segmentByteCount: Int = 4_096
    ) throws -> DurableReplica {
        var options = DurableReplica.Options()
        options.segmentByteCount = segmentByteCount
        return try DurableReplica(storage: storage, options: options, seed: seed)
    }

    @discardableResult
    private func set(
        _ durable: DurableReplica, _ key: String, _ value: String
    ) throws -> [Effect] {
        try durable.transact(at: now) { replica, now in
            replica.write(.value(Data(value.utf8)), forKey: key, at: now).effects
        }
    }

    private func values(_ durable: DurableReplica) -> [String: String] {
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
        _ = try durable.transact(at: now) { $0.handle(.synchronize(waiter: 1), at: $1) }
        _ = try durable.transact(at: now) { replica, now in
            replica.handle(
                .answered(
                    SyncResponse(
                        epoch: "e", cursor: 3, serverTime: now.wall, initial: true, more: false,
                        changes: [.other("theirs", "1")])), at: now)
        }
    }

    @Test("an answer that is torn at any byte leaves neither its records nor its cursor")
    func tornAnswer() throws {
        let whole = SimulatedDisk()
        let durable = try open(whole.storage())
        try attach(durable)
        try set(durable, "a", "1")
        let before = durable.replica
        let start = try #require(whole.lastByte(of: 1)) / 8 * 8 + 8
        _ = try durable.transact(at: now) { replica, now in
            replica.handle(
                .answered(
                    SyncResponse(
                        epoch: "e", cursor: 6, serverTime: now.wall, initial: false, more: false,
                        changes: [.other("theirs", "2"), .other("b", "1")])), at: now)
        }
        let end = try #require(whole.lastByte(of: 1))
        #expect(end > start)
        for cut in start..<end {
            let disk = whole.copy()
            for offset in cut...end { disk.damage(1, at: offset) { _ in 0 } }
            let again = try open(disk.storage(), seed: 2)
            #expect(again.recovery.damage.isEmpty)
            #expect(again.replica.table == before.table, "cut at \(cut)")
            #expect(again.replica.state.cursor == 3, "cut at \(cut)")
        }
        #expect(try open(whole.storage()).replica.table == durable.replica.table)
    }

    @Test("damage to the end of the first download leaves what was written after it to be sent")
    func damagedFirstDownload() throws {
        let disk = SimulatedDisk()
        let durable = try open(disk.storage())
        try set(durable, "theirs", "a default")
        let start = try #require(disk.lastByte(of: 1)) / 8 * 8 + 8
        try attach(durable)
        try set(durable, "theirs", "2")
        // What the answer left is one frame.
        disk.damage(1, at: start + 20) { ~$0 }
        let again = try open(disk.storage(), seed: 2)
        #expect(again.recovery.damage.count == 1)
        #expect(again.replica.initialSyncCompleted)
        #expect(values(again) == ["theirs": "2"])
        try attach(again)
        #expect(values(again) == ["theirs": "2"])
        #expect(again.replica.pendingKeys == ["theirs"])
    }

    @Test("a damaged state at the end of a log written anew leaves what is to be sent")
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
        #expect(again.replica.initialSyncCompleted)
        try attach(again)
        #expect(values(again) == ["theirs": "\(number)"])
        #expect(again.replica.pendingKeys == ["theirs"])
    }

    @Test("opened again it knows its id, its state, its keys and what is to be sent")
    func reopen() throws {
        let disk = SimulatedDisk()
        let first = try open(disk.storage())
        try attach(first)
        try set(first, "a", "1")
        let again = try open(disk.storage(), seed: 2)
        #expect(again.replica.id == first.replica.id)
        #expect(again.replica.currentState == first.replica.currentState)
        #expect(again.replica.table == first.replica.table)
        #expect(again.replica.pendingKeys == ["a"])
        #expect(values(again) == ["a": "1", "theirs": "1"])
    }

    @Test("two processes see each other's writes, told with reason 0, and never their own")
    func twoProcesses() throws {
        let disk = SimulatedDisk()
        let first = try open(disk.storage(), seed: 1)
        let second = try open(disk.storage(), seed: 2)
        #expect(try set(first, "a", "1") == [])
        #expect(
            try second.catchUp(at: now) == [
                .notify(StoreChange(reason: .serverChange, keys: ["a"]))
            ])
        #expect(second.replica.id == first.replica.id)
        // A process that writes first takes in what it has missed.
        try set(first, "b", "1")
        #expect(
            try set(second, "c", "1") == [
                .notify(StoreChange(reason: .serverChange, keys: ["b"]))
            ])
        #expect(try first.catchUp(at: now).count == 1)
        #expect(values(first) == values(second))
        #expect(try first.catchUp(at: now) == [])
    }

    @Test("processes that write in turn over many compactions stay equal", arguments: 1...20)
    func compaction(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let disk = SimulatedDisk()
        var processes = try (1...3).map {
            try open(disk.storage(), seed: UInt64($0), segmentByteCount: 1_024)
        }
        var expected: [String: String] = [:]
        for number in 0..<300 {
            let index = Int.random(in: 0..<3, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0: _ = try processes[index].catchUp(at: now)
            case 1:
                processes[index] = try open(
                    disk.storage(), seed: UInt64(number), segmentByteCount: 1_024)
            default:
                let key = "key \(Int.random(in: 0..<10, using: &random))"
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

    @Test("without space for a segment a write throws and changes nothing; reading goes on")
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
        #expect(durable.replica.session.inFlight == before.session.inFlight)
        #expect(values(durable).count == stored + 1)
        storage.heal()
        try set(durable, "later", "1")
        #expect(values(durable).count == stored + 2)
    }

    @Test("a write that failed leaves no request under way that nobody sends")
    func nothingStuck() throws {
        let storage = SimulatedDisk().storage()
        let durable = try open(storage)
        try attach(durable)
        storage.aim(.fail(5), at: .write)
        #expect(throws: LogError.self) { try set(durable, "a", "1") }
        #expect(durable.replica.session.inFlight == nil)
        #expect(durable.replica.pendingKeys == [])
        let effects = try set(durable, "a", "2")
        guard case .send(let request)? = effects.first else {
            Issue.record("nothing was sent: \(effects)")
            return
        }
        #expect(request.changes.map(\.key) == ["a"])
    }

    @Test("a log that cannot be written anew for want of space still takes writes")
    func compactionWithoutSpace() throws {
        let disk = SimulatedDisk()
        let storage = disk.storage()
        let durable = try open(storage, segmentByteCount: 512)
        var number = 0
        while disk.segments.count < 2 {
            try set(durable, "key", "\(number)")
            number += 1
        }
        // The next segment can be made, the one after it not.
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

    @Test("what others wrote is not lost where looking for it fails half-way")
    func interruptedCatchUp() throws {
        let disk = SimulatedDisk()
        let storage = disk.storage()
        let first = try open(storage, seed: 1)
        let second = try open(disk.storage(), seed: 2)
        try set(first, "a", "1")
        try set(second, "b", "1")
        // No file descriptor is left to list the folder with, after the new records were read.
        storage.aim(.fail(24), at: .segments, times: .max)
        #expect(throws: LogError.self) { try first.catchUp(at: now) }
        #expect(throws: LogError.self) { try set(first, "c", "1") }
        storage.heal()
        #expect(
            try set(first, "c", "1") == [
                .notify(StoreChange(reason: .serverChange, keys: ["b"]))
            ])
        #expect(values(first) == ["a": "1", "b": "1", "c": "1"])
    }

    @Test("an entry of a newer program is kept: this one writes nothing more")
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

    @Test("whatever byte is damaged, it opens, keeps all other keys and writes on")
    func damage() throws {
        let whole = SimulatedDisk()
        let durable = try open(whole.storage(), segmentByteCount: 1_024)
        try attach(durable)
        for number in 0..<5 { try set(durable, "key \(number)", "\(number)") }
        let end = durable.replica.entries.count * 80
        for offset in 0..<end {
            let disk = whole.copy()
            disk.damage(1, at: offset) { $0 ^ 0x40 }
            let opened = try open(disk.storage(), seed: 9, segmentByteCount: 1_024)
            let isLogID = (16..<24).contains(offset)
            let kept = values(opened)
            #expect(kept.count >= (isLogID ? 0 : 5), "byte \(offset): \(kept)")
            #expect(kept.allSatisfy { values(durable)[$0.key] == $0.value })
            #expect(opened.recovery.damage.isEmpty == opened.recovery.setAside.isEmpty)
            if !opened.recovery.damage.isEmpty {
                #expect(opened.replica.state.cursor == 0)
                #expect(disk.segments == [2])
            }
            try set(opened, "after", "1")
            let again = try open(disk.storage(), seed: 10, segmentByteCount: 1_024)
            #expect(again.recovery.damage.isEmpty)
            #expect(again.replica.table == opened.replica.table, "byte \(offset)")
        }
    }

    @Test("another process goes on after one has set a damaged file aside")
    func damageWithOthers() throws {
        let disk = SimulatedDisk()
        let first = try open(disk.storage(), seed: 1)
        for number in 0..<5 { try set(first, "key \(number)", "\(number)") }
        disk.damage(1, at: 5) { ~$0 }
        let second = try open(disk.storage(), seed: 2)
        #expect(second.recovery.setAside.count == 1)
        try set(second, "second", "1")
        try set(first, "first", "1")
        _ = try second.catchUp(at: now)
        #expect(values(first) == values(second))
        #expect(values(first).count == 7)
    }
}
