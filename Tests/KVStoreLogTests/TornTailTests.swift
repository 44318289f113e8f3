import KVStoreSimulation
import StoreTestSupport
import Testing

@testable import KVStoreLog

@Suite("Torn tail")
struct TornTailTests {
    /// Three frames, the last of `byteCount` bytes; returns the disk and the places.
    private func threeFrames(last byteCount: Int) throws -> (SimulatedDisk, [LogPosition]) {
        let disk = SimulatedDisk()
        let log = SegmentedLog.over(disk.storage(), segmentByteCount: 1_024)
        _ = try log.openReading()
        let places = try log.append([.numbered(1), .numbered(2, byteCount: 33), .numbered(3, byteCount: byteCount)])
        try log.close()
        return (disk, places)
    }

    @Test("a last frame cut at any byte is dropped, reported and zeroed")
    func zeroFilledTail() throws {
        let (whole, places) = try threeFrames(last: 45)
        let start = places[2].offset
        let payloadEnd = start + 16 + 45
        for cut in start..<payloadEnd {
            let disk = whole.copy()
            for offset in cut..<payloadEnd { disk.damage(1, at: offset) { _ in 0 } }
            let content = disk.bytes(of: 1)[start...].lastIndex { $0 != 0 }
            let log = SegmentedLog.over(disk.storage(), segmentByteCount: 1_024)
            let (recovery, frames) = try log.openReading()
            if content == payloadEnd - 1 {
                // The bytes cut off were zeros anyway.
                #expect(frames.count == 3)
                continue
            }
            #expect(frames.map(\.payload) == [.numbered(1), .numbered(2, byteCount: 33)])
            #expect((recovery.tornTail == nil) == (content == nil), "cut at \(cut)")
            if let tornTail = recovery.tornTail {
                #expect(tornTail.offset == start)
                #expect(tornTail.path == "/disk/1.log")
            }
            #expect(recovery.damage.isEmpty)
            #expect(disk.bytes(of: 1)[start...].allSatisfy { $0 == 0 })
            try log.appendExclusively([.numbered(9)])
            #expect(
                try framesOf(disk).frames.map(\.payload) == [.numbered(1), .numbered(2, byteCount: 33), .numbered(9)])
        }
    }

    @Test("a file truncated at any byte of its last frame keeps all earlier frames")
    func shortenedFile() throws {
        let (whole, places) = try threeFrames(last: 45)
        let start = places[2].offset
        for length in start..<start + 16 + 45 {
            let disk = SimulatedDisk()
            disk[1] = Array(whole.bytes(of: 1).prefix(length))
            let log = SegmentedLog.over(disk.storage(), segmentByteCount: 1_024)
            let (_, frames) = try log.openReading()
            #expect(frames.map(\.payload) == [.numbered(1), .numbered(2, byteCount: 33)])
            try log.appendExclusively([.numbered(9, byteCount: 200)])
            #expect(
                try framesOf(disk).frames.map(\.payload) == [
                    .numbered(1), .numbered(2, byteCount: 33), .numbered(9, byteCount: 200),
                ])
        }
    }

    @Test("bytes in the free space after the frames are a torn tail")
    func garbageBehind() throws {
        let (disk, _) = try threeFrames(last: 45)
        disk.damage(1, at: 1_000) { _ in 0x55 }
        let (recovery, frames) = try framesOf(disk)
        #expect(frames.count == 3)
        #expect(recovery.tornTail != nil)
        #expect(disk.bytes(of: 1)[1_000] == 0)
        #expect(try framesOf(disk).recovery.tornTail == nil)
    }
}
