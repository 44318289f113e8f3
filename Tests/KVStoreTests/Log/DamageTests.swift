import Testing

@testable import KVStore

@Suite("Damage")
struct DamageTests {
    /// Twelve frames in three segments.
    private func threeSegments() throws -> MemoryDisk {
        let disk = MemoryDisk()
        let log = SegmentedLog.over(MemoryLogStorage(disk), segmentByteCount: 256)
        _ = try log.openReading()
        for number in 0..<12 { try log.appendExclusively([.numbered(number)]) }
        try log.close()
        #expect(disk.segments == [1, 2, 3])
        return disk
    }

    private static let all = (0..<12).map { LogPayload.numbered($0) }

    @Test("a flipped byte never gives wrong data, and never costs more than its own frame")
    func everyByte() throws {
        let whole = try threeSegments()
        for segment in UInt64(1)...3 {
            let headerAndFrames = 64 + 4 * 40
            for offset in 0..<256 {
                for mask: UInt8 in [0x01, 0x80, 0xFF] {
                    let damaged = whole.copy()
                    damaged.damage(segment, at: offset) { $0 ^ mask }
                    try check(
                        damaged, segment: segment, offset: offset,
                        isUsed: offset < headerAndFrames)
                }
            }
        }
    }

    private func check(
        _ damaged: MemoryDisk, segment: UInt64, offset: Int, isUsed: Bool
    ) throws {
        let isLast = segment == 3
        var strict: LogError?
        do throws(LogError) {
            let (recovery, frames) = try framesOf(damaged.copy())
            // Only the last frame may be taken for a write that never became whole.
            let kept = isLast && isUsed ? Array(Self.all.dropLast()) : Self.all
            #expect(frames.map(\.payload) == kept, "segment \(segment), byte \(offset)")
            #expect(recovery.tornTail != nil)
        } catch {
            strict = error
        }
        let disk = damaged.copy()
        let (recovery, frames) = try framesOf(disk, salvages: true)
        let lost = Self.all.filter { payload in !frames.map(\.payload).contains(payload) }
        #expect(frames.allSatisfy { Self.all.contains($0.payload) })
        #expect(frames.count + lost.count == Self.all.count)
        switch strict {
        case nil:
            #expect(recovery.damage.isEmpty)
        case .damaged(let damage):
            #expect(damage.path == "/memory/\(segment).log")
            #expect(damage.offset <= offset && offset < damage.offset + 64 || offset >= 224)
            #expect(recovery.damage == [damage])
            #expect(recovery.setAside.count == 1)
            #expect(disk.setAsideFiles.values.first == damaged.bytes(of: segment))
            // A header's own log id is what the frames' checksums need; another segment has it.
            #expect(lost.count <= 1, "segment \(segment), byte \(offset): \(lost.count) lost")
        case .incompatible?, .storage?, .closedByFailure?, .removed?, .tooLarge?:
            Issue.record("segment \(segment), byte \(offset): \(strict!)")
        }
    }

    @Test("a byte flipped in the header of the only segment costs no frame, except in its log id")
    func loneHeader() throws {
        let whole = MemoryDisk()
        let log = SegmentedLog.over(MemoryLogStorage(whole), segmentByteCount: 1_024)
        _ = try log.openReading()
        try log.appendExclusively(Self.all)
        for offset in 0..<64 {
            let disk = whole.copy()
            disk.damage(1, at: offset) { $0 ^ 0x10 }
            let (recovery, frames) = try framesOf(disk, salvages: true)
            #expect(recovery.damage.count == 1)
            #expect(recovery.setAside.count == 1)
            let isLogID = (16..<24).contains(offset)
            #expect(frames.map(\.payload) == (isLogID ? [] : Self.all), "byte \(offset)")
        }
    }

    @Test("a missing segment in the middle is named; the others are still visited")
    func missingSegment() throws {
        let disk = try threeSegments()
        disk.removeFile(2)
        #expect(
            throws: LogError.damaged(
                LogDamage(path: "/memory/2.log", offset: 0, detail: "the segment is missing"))
        ) { try framesOf(disk) }
        let (recovery, frames) = try framesOf(disk, salvages: true)
        #expect(recovery.damage.map(\.path) == ["/memory/2.log"])
        #expect(frames.map(\.payload) == Self.all.filter { !Self.all[4..<8].contains($0) })
    }

    @Test("a file of a newer version is refused in every mode and left alone")
    func newerVersion() throws {
        for segment in UInt64(1)...3 {
            let disk = try threeSegments()
            var bytes = disk.bytes(of: segment)
            bytes[8] = 2
            var sum: [UInt8] = []
            sum.append(littleEndian: bytes[..<60].withUnsafeBytes { Checksum.of($0) })
            bytes.replaceSubrange(60..<64, with: sum)
            disk.put(bytes, segment: segment)
            for salvages in [false, true] {
                #expect(
                    throws: LogError.incompatible(path: "/memory/\(segment).log", version: 2)
                ) { try framesOf(disk, salvages: salvages) }
            }
            #expect(disk.bytes(of: segment) == bytes)
            #expect(disk.setAsideFiles.isEmpty)
        }
    }

    @Test("a segment under another's number is damage, not data")
    func misplacedSegment() throws {
        let disk = try threeSegments()
        disk.put(disk.bytes(of: 1), segment: 2)
        #expect(throws: LogError.self) { try framesOf(disk) }
        let frames = try framesOf(disk, salvages: true).frames
        #expect(frames.map(\.payload) == Self.all.filter { !Self.all[4..<8].contains($0) })
    }

    @Test("a stretch of any length in the middle costs only the frames it touches")
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

    @Test("after a salvage the log goes on in a new segment without the damaged one")
    func goesOn() throws {
        for (segment, offset) in [(UInt64(1), 70), (2, 3), (3, 3), (3, 70), (2, 70)] {
            let disk = try threeSegments()
            disk.damage(segment, at: offset) { ~$0 }
            let log = SegmentedLog.over(
                MemoryLogStorage(disk), segmentByteCount: 256, salvages: true)
            let (_, frames) = try log.openReading()
            try log.exclusively(visit: { _ in Issue.record("nobody else wrote") }) {
                () throws(LogError) in
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
