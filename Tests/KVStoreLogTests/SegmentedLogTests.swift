import KVStoreCore
import KVStoreSimulation
import StoreTestSupport
import Testing

@testable import KVStoreLog

@Suite("Segmented log")
struct SegmentedLogTests {
    @Test("an empty directory is an empty log, and opening it creates nothing")
    func empty() throws {
        let disk = SimulatedDisk()
        let (recovery, frames) = try framesOf(disk)
        #expect(recovery == LogRecovery())
        #expect(frames.isEmpty)
        #expect(disk.segments.isEmpty)
    }

    @Test("appended frames are visited in order, at their positions", arguments: 1...20)
    func roundTrip(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let disk = SimulatedDisk()
        var expected: [LogPayload] = []
        var places: [LogPosition] = []
        for _ in 0..<4 {
            let log = SegmentedLog.over(disk.storage(), segmentByteCount: 2_048)
            let (recovery, frames) = try log.openReading()
            #expect(frames.map(\.payload) == expected)
            #expect(frames.map(\.position) == places)
            #expect(recovery.frameCount == expected.count)
            #expect(recovery.tornTail == nil)
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                let group = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                    LogPayload.numbered(
                        Int.random(in: 0...9_999, using: &random), byteCount: Int.random(in: 1...700, using: &random))
                }
                try log.exclusively(visit: { _ in }) { () throws(LogError) in
                    places += try log.append(group)
                }
                expected += group
            }
            try log.close()
        }
        #expect(try framesOf(disk).frames.map(\.payload) == expected)
        #expect(places == places.sorted())
    }

    @Test("a full segment is followed by another, and a group is never split")
    func rotation() throws {
        let disk = SimulatedDisk()
        let log = SegmentedLog.over(disk.storage(), segmentByteCount: 256)
        _ = try log.openReading()
        for number in 0..<6 {
            try log.appendExclusively([.numbered(2 * number), .numbered(2 * number + 1)])
        }
        let (_, frames) = try framesOf(disk)
        #expect(frames.map(\.payload) == (0..<12).map { .numbered($0) })
        #expect(disk.segments == Array(1...UInt64(disk.segments.count)))
        #expect(disk.segments.count == 3)
        for pair in 0..<6 {
            #expect(frames[2 * pair].position.segment == frames[2 * pair + 1].position.segment)
        }
        #expect(log.fileByteCount == 3 * 256)
    }

    @Test("a frame that fills a segment to its last byte is read")
    func exactFill() throws {
        for payloadByteCount in [176, 175, 169] {
            let disk = SimulatedDisk()
            let log = SegmentedLog.over(disk.storage(), segmentByteCount: 256)
            _ = try log.openReading()
            try log.appendExclusively([.numbered(1, byteCount: payloadByteCount)])
            try log.appendExclusively([.numbered(2)])
            #expect(disk.segments == [1, 2])
            let frames = try framesOf(disk).frames
            #expect(frames.map(\.payload) == [.numbered(1, byteCount: payloadByteCount), .numbered(2)])
        }
    }

    @Test("a group larger than a segment gets a segment of its size")
    func oversizeGroup() throws {
        let disk = SimulatedDisk()
        let log = SegmentedLog.over(disk.storage(), segmentByteCount: 512)
        _ = try log.openReading()
        let payloads: [[LogPayload]] = [
            [.numbered(1)], [.numbered(2, byteCount: 5_000), .numbered(3, byteCount: 70_000)], [.numbered(4)],
        ]
        for group in payloads { try log.appendExclusively(group) }
        #expect(try framesOf(disk).frames.map(\.payload) == payloads.flatMap { $0 })
        #expect(disk.bytes(of: 2).count == 64 + 5_016 + 70_016)
    }

    @Test("a rewritten log contains only what it was rewritten with")
    func rewrite() throws {
        let disk = SimulatedDisk()
        let log = SegmentedLog.over(disk.storage(), segmentByteCount: 256)
        _ = try log.openReading()
        for number in 0..<20 { try log.appendExclusively([.numbered(number)]) }
        let last = disk.segments.last!
        try log.exclusively(visit: { _ in }) { () throws(LogError) in
            _ = try log.rewrite([.numbered(100), .numbered(101)])
        }
        #expect(disk.segments == [last + 1])
        #expect(log.segments == [last + 1])
        try log.appendExclusively([.numbered(102)])
        #expect(try framesOf(disk).frames.map(\.payload) == (100...102).map { .numbered($0) })
    }

    @Test("segments left over from a rewrite are removed before the next one creates another")
    func removalFails() throws {
        let disk = SimulatedDisk()
        let storage = disk.storage()
        let log = SegmentedLog.over(storage, segmentByteCount: 256)
        _ = try log.openReading()
        func rewrite(_ number: Int) throws {
            try log.exclusively(visit: { _ in }) { () throws(LogError) in
                try log.rewrite([.numbered(number)])
            }
        }
        try log.appendExclusively([.numbered(1)])
        storage.aim(.fail(5), at: .remove, times: .max)
        try rewrite(2)
        #expect(disk.segments == [1, 2])
        #expect(throws: LogError.self) { try rewrite(3) }
        #expect(disk.segments == [1, 2])
        storage.heal()
        try rewrite(4)
        #expect(disk.segments == [3])
        #expect(try framesOf(disk).frames.map(\.payload) == [.numbered(4)])
    }

    @Test("the frames of the oldest segment can be moved to the end, and the segment removed")
    func oldestFirst() throws {
        let disk = SimulatedDisk()
        let log = SegmentedLog.over(disk.storage(), segmentByteCount: 256, isShared: false)
        _ = try log.openReading()
        for number in 0..<12 { try log.append([.numbered(number)]) }
        #expect(log.segments == [1, 2, 3])
        var oldest: [LogPayload] = []
        var place: Int?
        for count in 1...4 {
            place = try log.visitFrames(of: 1, from: place, byteCount: 1) {
                oldest.append(SeenFrame($0).payload)
            }
            #expect(oldest.count == count && place != nil)
        }
        #expect(try log.visitFrames(of: 1, from: place, byteCount: 1) { _ in } == nil)
        #expect(try log.visitFrames(of: 1) { _ in } == nil)
        #expect(oldest == (0..<4).map { .numbered($0) })
        try log.append(oldest)
        let end = log.end
        #expect(!log.isDurable(before: end))
        try log.sync()
        #expect(log.isDurable(before: end))
        try log.removeOldest()
        try log.close()
        #expect(
            try framesOf(disk).frames.map(\.payload) == (4..<12).map { .numbered($0) } + (0..<4).map { .numbered($0) })
    }

    @Test("an exclusive log keeps its lock until it is closed")
    func ownership() throws {
        let disk = SimulatedDisk()
        let log = SegmentedLog.over(disk.storage(), isShared: false)
        _ = try log.openReading()
        #expect(try disk.storage().lockIfFree() == false)
        try log.close()
        #expect(try disk.storage().lockIfFree())
    }

    @Test("every frame records up to where its segment was durable")
    func durableMark() throws {
        let disk = SimulatedDisk()
        let log = SegmentedLog.over(disk.storage())
        _ = try log.openReading()
        let first = try log.append([.numbered(1)])[0]
        let second = try log.append([.numbered(2)])[0]
        try log.sync()
        let third = try log.append([.numbered(3)])[0]
        let bytes = disk.bytes(of: 1)
        func mark(_ place: LogPosition) -> UInt32 {
            bytes.withUnsafeBytes { $0.littleEndian(UInt32.self, at: place.offset + 8) }
        }
        #expect(mark(first) == 64)
        #expect(mark(second) == 64)
        #expect(mark(third) == UInt32(third.offset))
    }
}
