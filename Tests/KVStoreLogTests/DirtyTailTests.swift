import KVStoreCore
import KVStoreSimulation
import Synchronization
import StoreTestSupport
import Testing

@testable import KVStoreLog

/// A write fails, and so does zeroing its remains.
@Suite("Dirty tail")
struct DirtyTailTests {
    private func open(
        _ disk: SimulatedDisk
    ) throws -> (log: SegmentedLog, storage: SimulatedStorage) {
        let storage = disk.storage()
        let log = SegmentedLog.over(storage, segmentByteCount: 512, isShared: true)
        _ = try log.openReading()
        return (log, storage)
    }

    /// The next write is torn, and the writes after it fail.
    private func failWrites(of storage: SimulatedStorage, torn: Int, failing: Int) {
        storage.aim(.tear(torn), at: .write)
        if failing > 0 { storage.aim(.fail(28), at: .write, number: 2, times: failing) }
    }

    @Test("the remains of a failed write are zeroed before the next one, however often that fails")
    func scrubbedLater() throws {
        for torn in [3, 10, 40, 57, 80, 96] {
            let disk = SimulatedDisk()
            let (log, storage) = try open(disk)
            try log.appendExclusively([.numbered(1)])
            failWrites(of: storage, torn: torn, failing: 3)
            let group: [LogPayload] = [.numbered(2), .numbered(3), .numbered(4)]
            #expect(throws: LogError.self) { try log.appendExclusively(group) }
            #expect(!log.isClosedByFailure)
            // Each of these fails in zeroing, where there is anything to zero.
            for _ in 0..<2 where torn % 40 != 0 {
                let before = disk.bytes(of: 1)
                #expect(throws: LogError.self) { try log.appendExclusively([.numbered(5)]) }
                #expect(disk.bytes(of: 1) == before, "torn at \(torn)")
            }
            storage.heal()
            try log.appendExclusively([.numbered(6)])
            try log.close()
            let standing = Array(group.prefix(torn / 40))
            let (recovery, frames) = try framesOf(disk)
            #expect(frames.map(\.payload) == [.numbered(1)] + standing + [.numbered(6)])
            #expect(recovery.tornTail == nil, "torn at \(torn)")
        }
    }

    @Test("nothing stale is left after the last frame of a finished segment")
    func finishedSegment() throws {
        let disk = SimulatedDisk()
        let (log, storage) = try open(disk)
        try log.appendExclusively([.numbered(1)])
        failWrites(of: storage, torn: 30, failing: 1)
        #expect(throws: LogError.self) { try log.appendExclusively([.numbered(2)]) }
        try log.appendExclusively([.numbered(3, byteCount: 600)])
        #expect(disk.segments == [1, 2])
        #expect(disk.bytes(of: 1)[104...].allSatisfy { $0 == 0 })
        try log.close()
        #expect(try framesOf(disk).frames.map(\.payload) == [.numbered(1), .numbered(3, byteCount: 600)])
    }

    @Test("a log closed with a dirty tail is scrubbed when it is opened again")
    func closedDirty() throws {
        let disk = SimulatedDisk()
        let (log, storage) = try open(disk)
        try log.appendExclusively([.numbered(1)])
        failWrites(of: storage, torn: 30, failing: 2)
        #expect(throws: LogError.self) { try log.appendExclusively([.numbered(2)]) }
        try log.close()
        let (recovery, frames) = try framesOf(disk)
        #expect(frames.map(\.payload) == [.numbered(1)])
        #expect(recovery.tornTail != nil)
    }

    @Test("what another process has written meanwhile is not zeroed")
    func writtenByAnother() throws {
        for torn in 0...96 {
            for count in 0...3 {
                let disk = SimulatedDisk()
                let (log, storage) = try open(disk)
                let (other, _) = try open(disk)
                try log.appendExclusively([.numbered(1)])
                failWrites(of: storage, torn: torn, failing: 2)
                let group: [LogPayload] = [.numbered(2), .numbered(3), .numbered(4)]
                #expect(throws: LogError.self) { try log.appendExclusively(group) }
                let others = (0..<count).map { LogPayload.numbered(10 + $0) }
                for payload in others { try other.appendExclusively([payload]) }
                storage.heal()
                let found = try log.appendExclusively([.numbered(6)]).map(\.payload)
                let (recovery, frames) = try framesOf(disk)
                let place = Comment(rawValue: "torn at \(torn), \(count) others")
                #expect(recovery.tornTail == nil, place)
                #expect(found == group.prefix(torn / 40) + others, place)
                #expect(frames.map(\.payload) == [.numbered(1)] + found + [.numbered(6)], place)
            }
        }
    }

    @Test("a frame that a reader without the lock has seen stays although its write failed")
    func seenInBetween() throws {
        for torn in 0...96 {
            let disk = SimulatedDisk()
            let (log, storage) = try open(disk)
            nonisolated(unsafe) let reader = try open(disk).log
            nonisolated(unsafe) var seen: [LogPayload] = []
            try log.appendExclusively([.numbered(1)])
            storage.aim(.tear(torn), at: .write)
            storage.afterWrite.withLock {
                $0.body = { isTorn in
                    if isTorn { seen = ((try? reader.readNew()) ?? []).map(\.payload) }
                }
            }
            #expect(throws: LogError.self) {
                try log.appendExclusively([.numbered(2), .numbered(3), .numbered(4)])
            }
            #expect(seen.count == 1 + torn / 40)
            // Neither overwrites what the other knows, nor leaves a gap.
            seen += try reader.appendExclusively([.numbered(5)]).map(\.payload) + [.numbered(5)]
            try log.appendExclusively([.numbered(6)])
            seen += try reader.readNew().map(\.payload)
            #expect(try framesOf(disk).frames.map(\.payload) == seen, "torn at \(torn)")
        }
    }

    @Test("processes whose writes fail in any way converge on the contents of the log", arguments: 1...40)
    func manyFailures(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let disk = SimulatedDisk()
        let processes = try (0..<3).map { _ in try open(disk) }
        var seen = [[LogPosition: LogPayload]](repeating: [:], count: 3)
        for number in 0..<300 {
            let index = Int.random(in: 0..<3, using: &random)
            let (log, storage) = processes[index]
            if Int.random(in: 0..<4, using: &random) == 0 {
                failWrites(
                    of: storage, torn: Int.random(in: 0...200, using: &random),
                    failing: Int.random(in: 0...2, using: &random))
            }
            let group = (0..<Int.random(in: 1...3, using: &random)).map {
                LogPayload.numbered(number * 4 + $0, byteCount: Int.random(in: 8...90, using: &random))
            }
            var found: [SeenFrame] = []
            if Bool.random(using: &random) {
                found = try log.readNew()
            } else {
                try? log.exclusively(visit: { found.append(SeenFrame($0)) }) { () throws(LogError) in
                    let places = try log.append(group)
                    for (place, payload) in zip(places, group) { seen[index][place] = payload }
                }
            }
            if Int.random(in: 0..<3, using: &random) == 0 { storage.heal() }
            for frame in found {
                #expect(seen[index][frame.position] == nil, "seed \(seed): visited twice")
                seen[index][frame.position] = frame.payload
            }
        }
        let all = try framesOf(disk).frames
        let expected = Dictionary(uniqueKeysWithValues: all.map { ($0.position, $0.payload) })
        for (index, process) in processes.enumerated() {
            process.storage.heal()
            for frame in try process.log.readNew() { seen[index][frame.position] = frame.payload }
            #expect(seen[index] == expected, "seed \(seed)")
        }
    }
}
