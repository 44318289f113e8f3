import KVStoreCore
import KVStoreSimulation
import StoreTestSupport
import Testing

@testable import KVStoreLog

@Suite("Damaged log")
struct DamageTests {
    /// Twelve frames in three segments.
    private func threeSegments() throws -> SimulatedDisk {
        let disk = SimulatedDisk()
        let log = SegmentedLog.over(disk.storage(), segmentByteCount: 256)
        _ = try log.openReading()
        for number in 0..<12 { try log.appendExclusively([.numbered(number)]) }
        try log.close()
        #expect(disk.segments == [1, 2, 3])
        return disk
    }

    private static let all = (0..<12).map { LogPayload.numbered($0) }

    @Test("frames missing from an open log are an error")
    func missingFrames() throws {
        let disk = SimulatedDisk()
        let log = SegmentedLog.over(disk.storage(), segmentByteCount: 256)
        _ = try log.openReading()
        for number in 0..<12 { try log.appendExclusively([.numbered(number)]) }
        var count = 0
        try log.visitAll { _ in count += 1 }
        #expect(count == 12)
        for segment in disk.segments {
            disk.damage(segment, at: 64 + 20) { ~$0 }
            #expect(throws: LogError.self) { try log.visitAll { _ in } }
            disk.damage(segment, at: 64 + 20) { ~$0 }
        }
    }

    @Test("a flipped byte never yields wrong data and costs at most its own frame")
    func everyByte() throws {
        let whole = try threeSegments()
        for segment in UInt64(1)...3 {
            let headerAndFrames = 64 + 4 * 40
            for offset in 0..<256 {
                for mask: UInt8 in [0x01, 0x80, 0xFF] {
                    let damaged = whole.copy()
                    damaged.damage(segment, at: offset) { $0 ^ mask }
                    try check(damaged, segment: segment, offset: offset, isUsed: offset < headerAndFrames)
                }
            }
        }
    }

    private func check(_ damaged: SimulatedDisk, segment: UInt64, offset: Int, isUsed: Bool) throws {
        let isLast = segment == 3
        var strict: LogError?
        var isGap = false
        do throws(LogError) {
            let disk = damaged.copy()
            let (recovery, frames) = try framesOf(disk)
            // In the last segment no sync is proven, so each frame may be an incomplete write.
            var kept = Self.all
            if isLast, isUsed { kept.remove(at: 8 + (offset - 64) / 40) }
            #expect(frames.map(\.payload) == kept, "segment \(segment), byte \(offset)")
            // Past the end recorded in its successor, a finished segment may hold anything.
            #expect(recovery.cutWrites.isEmpty == (!isLast && !isUsed))
            isGap = !recovery.unsyncedGaps.isEmpty
            let again = try framesOf(disk)
            #expect(again.recovery.cutWrites.isEmpty)
            #expect(again.frames == frames)
        } catch {
            strict = error
        }
        let disk = damaged.copy()
        let (recovery, frames) = try framesOf(disk, salvages: true)
        let lost = Self.all.filter { payload in !frames.map(\.payload).contains(payload) }
        #expect(frames.allSatisfy { Self.all.contains($0.payload) })
        #expect(frames.count + lost.count == Self.all.count)
        switch strict {
        case nil: #expect(recovery.damage.isEmpty == !isGap)
        case .damaged(let damage):
            #expect(damage.path == "/disk/\(segment).log")
            #expect(damage.offset <= offset && offset < damage.offset + 64 || offset >= 224)
            #expect(recovery.damage == [damage])
            #expect(recovery.quarantined.count == 1)
            #expect(disk.quarantined.values.first == damaged.bytes(of: segment))
            // The frames' checksums need the log id, which the header has twice.
            #expect(lost.count <= 1, "segment \(segment), byte \(offset): \(lost.count) lost")
        default: Issue.record("segment \(segment), byte \(offset): \(strict!)")
        }
    }

    @Test("a flipped byte in the header of the only segment costs no frame")
    func loneHeader() throws {
        let whole = SimulatedDisk()
        let log = SegmentedLog.over(whole.storage(), segmentByteCount: 1_024)
        _ = try log.openReading()
        try log.appendExclusively(Self.all)
        for offset in 0..<64 {
            let disk = whole.copy()
            disk.damage(1, at: offset) { $0 ^ 0x10 }
            let (recovery, frames) = try framesOf(disk, salvages: true)
            #expect(recovery.damage.count == 1)
            #expect(recovery.quarantined.count == 1)
            #expect(frames.map(\.payload) == Self.all, "byte \(offset)")
        }
    }

    @Test("a header without a second log id is read")
    func headerWithoutSecondID() throws {
        let disk = SimulatedDisk()
        let log = SegmentedLog.over(disk.storage(), segmentByteCount: 1_024)
        _ = try log.openReading()
        try log.appendExclusively(Self.all)
        var bytes = disk.bytes(of: 1)
        bytes.replaceSubrange(48..<60, with: [UInt8](repeating: 0, count: 12))
        var sum: [UInt8] = []
        sum.append(littleEndian: bytes[..<60].withUnsafeBytes { Checksum.of($0) })
        bytes.replaceSubrange(60..<64, with: sum)
        disk[1] = bytes
        #expect(try framesOf(disk).frames.map(\.payload) == Self.all)
        disk.damage(1, at: 33) { ~$0 }
        #expect(try framesOf(disk, salvages: true).frames.map(\.payload) == Self.all)
    }

    @Test("frames after a write torn by a power failure are kept, and the gap is reported once")
    func unsyncedGap() throws {
        let disk = SimulatedDisk()
        let storage = disk.storage()
        let log = SegmentedLog.over(storage, isShared: false)
        _ = try log.openReading()
        try log.append([.numbered(0)])
        try log.sync()
        try log.append([.numbered(1, byteCount: 700)])
        try log.append([.numbered(2)])
        #expect(try log.prepareSync()?.perform() == nil)
        let torn = disk.copy()
        for offset in 512..<700 { torn.damage(1, at: offset) { _ in 0 } }

        let (recovery, frames) = try framesOf(torn)
        #expect(frames.map(\.payload) == [.numbered(0), .numbered(2)])
        #expect(recovery.unsyncedGaps.map(\.offset) == [104])
        let reopened = SegmentedLog.over(torn.storage(), isShared: false)
        #expect(try reopened.openReading().recovery.cutWrites.isEmpty)
        try reopened.append([.numbered(3)])
        try reopened.close()
        #expect(try framesOf(torn).frames.map(\.payload) == [.numbered(0), .numbered(2), .numbered(3)])
    }

    @Test("bytes that a later frame proves to have been durable are damage, not a torn write")
    func provenDamage() throws {
        let disk = SimulatedDisk()
        let log = SegmentedLog.over(disk.storage(), isShared: false)
        _ = try log.openReading()
        for number in 0..<3 {
            try log.append([.numbered(number)])
            try log.sync()
        }
        try log.close()
        disk.damage(1, at: 110) { $0 ^ 1 }
        let before = disk.bytes(of: 1)
        #expect(
            throws: LogError.damaged(
                LogDamage(path: "/disk/1.log", offset: 104, detail: "40 invalid bytes before the next valid record"))
        ) { try framesOf(disk) }
        #expect(disk.bytes(of: 1) == before)
    }

    @Test("frames missing from the end of a finished segment are damage")
    func shortSegment() throws {
        let disk = try threeSegments()
        for offset in 184..<224 { disk.damage(2, at: offset) { _ in 0 } }
        #expect(
            throws: LogError.damaged(
                LogDamage(path: "/disk/2.log", offset: 184, detail: "40 bytes are missing at the end"))
        ) { try framesOf(disk) }
        let (recovery, frames) = try framesOf(disk, salvages: true)
        #expect(recovery.damage.count == 1 && recovery.quarantined.count == 1)
        #expect(frames.count == 11)
    }

    @Test("a missing segment in the middle is reported; the others are still visited")
    func missingSegment() throws {
        let disk = try threeSegments()
        disk[2] = nil
        #expect(
            throws: LogError.damaged(LogDamage(path: "/disk/2.log", offset: 0, detail: "the segment is missing"))
        ) { try framesOf(disk) }
        let (recovery, frames) = try framesOf(disk, salvages: true)
        #expect(recovery.damage.map(\.path) == ["/disk/2.log"])
        #expect(frames.map(\.payload) == Self.all.filter { !Self.all[4..<8].contains($0) })
    }

    @Test("a file of a newer version is rejected in every mode and left unchanged")
    func newerVersion() throws {
        for segment in UInt64(1)...3 {
            let disk = try threeSegments()
            var bytes = disk.bytes(of: segment)
            bytes[8] = 2
            var sum: [UInt8] = []
            sum.append(littleEndian: bytes[..<60].withUnsafeBytes { Checksum.of($0) })
            bytes.replaceSubrange(60..<64, with: sum)
            disk[segment] = bytes
            for salvages in [false, true] {
                #expect(
                    throws: LogError.incompatible(path: "/disk/\(segment).log", version: 2)
                ) { try framesOf(disk, salvages: salvages) }
            }
            #expect(disk.bytes(of: segment) == bytes)
            #expect(disk.quarantined.isEmpty)
        }
    }

    @Test("a segment under the number of another is damage, not data")
    func misplacedSegment() throws {
        let disk = try threeSegments()
        disk[2] = disk.bytes(of: 1)
        #expect(throws: LogError.self) { try framesOf(disk) }
        let frames = try framesOf(disk, salvages: true).frames
        #expect(frames.map(\.payload) == Self.all.filter { !Self.all[4..<8].contains($0) })
    }

    @Test("a damaged range of any length costs only the frames it touches")
    func stretches() throws {
        var random = SplitMix64(seed: 5)
        for round in 0..<200 {
            let disk = try threeSegments()
            let segment = UInt64.random(in: 1...3, using: &random)
            let start = Int.random(in: 64..<184, using: &random)
            let end = Int.random(in: start + 1...184, using: &random)
            let zeros = Bool.random(using: &random)
            for offset in start..<end { disk.damage(segment, at: offset) { zeros ? 0 : ~$0 } }
            let (recovery, frames) = try framesOf(disk, salvages: true)
            let first = Int(segment - 1) * 4 + (start - 64) / 40
            let last = Int(segment - 1) * 4 + (end - 1 - 64) / 40
            let kept = frames.map(\.payload)
            for number in 0..<12 where !(first...last).contains(number) {
                #expect(kept.contains(Self.all[number]), "round \(round), frame \(number)")
            }
            #expect(kept.count == 12 || recovery.damage.count == 1, "round \(round)")
        }
    }

    @Test("after a salvage the log continues in a new segment without the damaged one")
    func continuesAfterSalvage() throws {
        for (segment, offset) in [(UInt64(1), 70), (2, 3), (3, 3), (3, 70), (2, 70)] {
            let disk = try threeSegments()
            disk.damage(segment, at: offset) { ~$0 }
            let log = SegmentedLog.over(disk.storage(), segmentByteCount: 256, salvages: true)
            let (_, frames) = try log.openReading()
            try log.exclusively(visit: { _ in Issue.record("nobody else wrote") }) { () throws(LogError) in
                _ = try log.rewrite(frames.map(\.payload))
            }
            try log.appendExclusively([.numbered(100)])
            let (recovery, again) = try framesOf(disk)
            #expect(recovery.damage.isEmpty)
            #expect(again.map(\.payload) == frames.map(\.payload) + [.numbered(100)])
            #expect(disk.segments.allSatisfy { $0 > 3 })
        }
    }
}
