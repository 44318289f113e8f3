import KVStoreCore
import KVStoreSimulation
import StoreTestSupport
import Testing

@testable import KVStoreLog

@Suite("Log shared by several processes")
struct SharedLogTests {
    private func open(
        _ disk: SimulatedDisk, segmentByteCount: Int = 512
    ) throws -> (log: SegmentedLog, storage: SimulatedStorage, frames: [SeenFrame]) {
        let storage = disk.storage()
        let log = SegmentedLog.over(storage, segmentByteCount: segmentByteCount)
        return (log, storage, try log.openReading().frames)
    }

    @Test("a process visits what others append, and never its own frames")
    func twoWriters() throws {
        let disk = SimulatedDisk()
        let (first, _, _) = try open(disk)
        let (second, _, _) = try open(disk)
        #expect(try first.appendExclusively([.numbered(1)]).isEmpty)
        #expect(try second.appendExclusively([.numbered(2)]).map(\.payload) == [.numbered(1)])
        #expect(try second.readNew().isEmpty)
        #expect(try first.readNew().map(\.payload) == [.numbered(2)])
        #expect(first.logID == second.logID)
    }

    @Test("processes that append alternately see everything in one order", arguments: 1...30)
    func manyWriters(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let disk = SimulatedDisk()
        var logs: [SegmentedLog] = []
        var seen: [[LogPosition: LogPayload]] = []
        for number in 0..<400 {
            if logs.count < 3 || logs.count < 6 && Int.random(in: 0..<60, using: &random) == 0 {
                let (log, _, frames) = try open(disk)
                logs.append(log)
                seen.append(Dictionary(uniqueKeysWithValues: frames.map { ($0.position, $0.payload) }))
            }
            let index = Int.random(in: 0..<logs.count, using: &random)
            let group = (0..<Int.random(in: 1...3, using: &random)).map {
                LogPayload.numbered(number * 4 + $0, byteCount: Int.random(in: 8...150, using: &random))
            }
            var found: [SeenFrame] = []
            if Bool.random(using: &random) {
                found = try logs[index].readNew()
            } else {
                try logs[index].exclusively(visit: { found.append(SeenFrame($0)) }) { () throws(LogError) in
                    let places = try logs[index].append(group)
                    for (place, payload) in zip(places, group) { seen[index][place] = payload }
                }
            }
            for frame in found {
                #expect(seen[index][frame.position] == nil, "seed \(seed): visited twice")
                seen[index][frame.position] = frame.payload
            }
        }
        let all = try framesOf(disk).frames
        for index in logs.indices {
            for frame in try logs[index].readNew() { seen[index][frame.position] = frame.payload }
            #expect(
                seen[index] == Dictionary(uniqueKeysWithValues: all.map { ($0.position, $0.payload) }), "seed \(seed)")
        }
    }

    @Test("a reader follows a log that another process rewrites", arguments: 1...40)
    func rewriting(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let disk = SimulatedDisk()
        let (writer, _, _) = try open(disk, segmentByteCount: 256)
        let (reader, _, _) = try open(disk, segmentByteCount: 256)
        // Each process's state is the last payload of each of five keys (the payload's kind).
        var written: [UInt8: LogPayload] = [:]
        var read: [UInt8: LogPayload] = [:]
        func apply(_ frames: [SeenFrame], to state: inout [UInt8: LogPayload]) {
            for frame in frames { state[frame.kind] = frame.payload }
        }
        for number in 0..<150 {
            var payload = LogPayload.numbered(number)
            payload.kind = UInt8(number % 5 + 1)
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                var found: [SeenFrame] = []
                try writer.exclusively(visit: { found.append(SeenFrame($0)) }) { () throws(LogError) in
                    apply(found, to: &written)
                    _ = try writer.rewrite(written.values.sorted { $0.kind < $1.kind })
                }
            case 1, 2: apply(try reader.readNew(), to: &read)
            case 3, 4:
                apply(try reader.appendExclusively([payload]), to: &read)
                read[payload.kind] = payload
            default:
                apply(try writer.appendExclusively([payload]), to: &written)
                written[payload.kind] = payload
            }
        }
        apply(try reader.readNew(), to: &read)
        apply(try writer.readNew(), to: &written)
        #expect(read == written, "seed \(seed)")
        var fresh: [UInt8: LogPayload] = [:]
        apply(try framesOf(disk).frames, to: &fresh)
        #expect(fresh == written, "seed \(seed)")
    }

    @Test("a rewrite without space changes nothing, and the log stays usable")
    func rewriteWithoutSpace() throws {
        let disk = SimulatedDisk()
        let (writer, storage, _) = try open(disk)
        let (other, _, _) = try open(disk)
        try writer.appendExclusively([.numbered(1)])
        storage.aim(.fail(28), at: .create, times: .max)
        #expect(throws: LogError.self) {
            try writer.exclusively(visit: { _ in }) { () throws(LogError) in
                _ = try writer.rewrite([.numbered(9)])
            }
        }
        #expect(try other.appendExclusively([.numbered(2)]).map(\.payload) == [.numbered(1)])
        #expect(try writer.appendExclusively([.numbered(3)]).map(\.payload) == [.numbered(2)])
        #expect(disk.segments == [1])
        #expect(try framesOf(disk).frames.map(\.payload) == (1...3).map { .numbered($0) })
        // And what is appended then is synced.
        try writer.sync()
        let syncs = storage.count(of: .sync)
        try writer.appendExclusively([.numbered(4)])
        try writer.sync()
        #expect(storage.count(of: .sync) == syncs + 1)
    }

    @Test("the next writer scrubs the write of a killed process without losing a frame")
    func killedWriter() throws {
        let group: [LogPayload] = [.numbered(2), .numbered(3, byteCount: 45)]
        for byteCount in 0...104 {
            let disk = SimulatedDisk()
            let (killed, storage, _) = try open(disk)
            let (next, _, _) = try open(disk)
            try killed.appendExclusively([.numbered(1)])
            storage.aim(.kill(after: byteCount), at: .write)
            #expect(throws: LogError.self) { try killed.appendExclusively(group) }
            // Before anybody takes the lock, readers see whole frames only.
            let early = try next.readNew().map(\.payload)
            #expect(early == Array([.numbered(1), group[0], group[1]].prefix(early.count)), "\(byteCount) bytes")
            let found = try next.appendExclusively([.numbered(4)]).map(\.payload)
            #expect(disk.quarantined.isEmpty)
            let all = early + found + [.numbered(4)]
            #expect(try framesOf(disk).frames.map(\.payload) == all, "\(byteCount) bytes")
            #expect(all.first == .numbered(1))
            #expect(try framesOf(disk).recovery.tornTail == nil)
        }
    }

    @Test("a process killed anywhere in a rewrite leaves a log that others can read and append to")
    func killedRewrite() throws {
        let kept: [LogPayload] = (10..<16).map { .numbered($0) }
        for (call, fault) in FaultPlan.faultsOfRewrite {
            for number in 1...3 {
                let disk = SimulatedDisk()
                let (killed, storage, _) = try open(disk, segmentByteCount: 256)
                let (next, _, _) = try open(disk, segmentByteCount: 256)
                for number in 10..<16 { try killed.appendExclusively([.numbered(number)]) }
                storage.aim(fault, at: call, number: number)
                try? killed.exclusively(visit: { _ in }) { () throws(LogError) in
                    _ = try killed.rewrite(kept)
                }
                storage.kill()
                var seen = try next.appendExclusively([.numbered(20)]).map(\.payload)
                #expect(Set(seen.map(\.kind)) == Set(kept.map(\.kind)), "\(call) \(number)")
                seen = try framesOf(disk).frames.map(\.payload)
                #expect(seen.last == .numbered(20))
                #expect(kept.allSatisfy { seen.contains($0) }, "\(call) \(number)")
            }
        }
    }

    @Test("a segment that exists although creating it failed is used by all processes")
    func halfCreated() throws {
        for rewrites in [false, true] {
            let disk = SimulatedDisk()
            let (writer, storage, _) = try open(disk, segmentByteCount: 256)
            let (reader, _, _) = try open(disk, segmentByteCount: 256)
            try writer.appendExclusively([.numbered(1)])
            storage.aim(.tear(0), at: .create)
            #expect(throws: LogError.self) {
                try writer.exclusively(visit: { _ in }) { () throws(LogError) in
                    if rewrites {
                        try writer.rewrite([.numbered(1)])
                    } else {
                        try writer.append([.numbered(2, byteCount: 200)])
                    }
                }
            }
            #expect(try reader.readNew().last?.payload == .numbered(1))
            let expected: [LogPayload] = [.numbered(3)]
            try writer.appendExclusively(expected)
            #expect(try reader.appendExclusively([.numbered(4)]).map(\.payload) == expected)
            #expect(try writer.readNew().map(\.payload) == [.numbered(4)])
            #expect(try framesOf(disk).frames.map(\.payload).suffix(2) == [.numbered(3), .numbered(4)])
        }
    }

    @Test("the first sync of a file that another process created syncs the names as well, once")
    func names() throws {
        let disk = SimulatedDisk()
        let (writer, writing, _) = try open(disk)
        try writer.appendExclusively([.numbered(1)])
        try writer.sync()
        #expect(writing.count(of: .syncNames) == 0)
        let (other, storage, _) = try open(disk)
        for number in 2...3 {
            try other.appendExclusively([.numbered(number)])
            try other.sync()
        }
        #expect(storage.count(of: .syncNames) == 1)
        let (third, failing, _) = try open(disk)
        failing.aim(.fail(5), at: .syncNames)
        try third.appendExclusively([.numbered(4)])
        #expect(throws: LogError.self) { try third.sync() }
        #expect(third.isClosedByFailure)
    }

    @Test("damage followed by complete records is reported, and the records are not zeroed")
    func damageWhileOpen() throws {
        let disk = SimulatedDisk()
        let (writer, _, _) = try open(disk)
        let (other, _, _) = try open(disk)
        try writer.appendExclusively([.numbered(1), .numbered(2), .numbered(3)])
        disk.damage(1, at: 64 + 40 + 20) { ~$0 }
        let before = disk.bytes(of: 1)
        #expect(
            throws: LogError.damaged(
                LogDamage(path: "/disk/1.log", offset: 104, detail: "40 invalid bytes before the next valid record"))
        ) { try other.appendExclusively([.numbered(4)]) }
        #expect(disk.bytes(of: 1) == before)
    }

    @Test("files removed while in use are noticed before anything is appended")
    func removed() throws {
        let disk = SimulatedDisk()
        let (writer, _, _) = try open(disk)
        try writer.appendExclusively([.numbered(1)])
        disk[1] = nil
        #expect(throws: LogError.removed(path: "/disk/1.log")) {
            try writer.appendExclusively([.numbered(2)])
        }
        #expect(throws: LogError.removed(path: "/disk/1.log")) { try writer.readNew() }
    }
}
