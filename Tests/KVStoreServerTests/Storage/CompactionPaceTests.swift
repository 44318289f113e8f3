import Testing

@testable import KVStoreServer

@Suite("Compaction pace")
struct CompactionPaceTests {
    private var pace = CompactionPace(stepByteCount: 4_096, segmentByteCount: 65_536)

    @Test("every quarter of a step written pays for one step")
    mutating func quarters() {
        #expect(pace.takeSteps(isDue: true) == 0)
        pace.credit(recordCount: 0, byteCount: 1_023)
        #expect(pace.takeSteps(isDue: true) == 0)
        pace.credit(recordCount: 0, byteCount: 1)
        #expect(pace.takeSteps(isDue: true) == 1)
        #expect(pace.takeSteps(isDue: true) == 0)
    }

    @Test("a large group pays for steps that examine four times its bytes")
    mutating func largeGroup() {
        pace.credit(recordCount: 1, byteCount: 3 * 1_024 - 128)
        #expect(pace.takeSteps(isDue: true) == 3)
        pace.credit(recordCount: 0, byteCount: 1 << 30)
        #expect(pace.takeSteps(isDue: true) == 16)
    }

    @Test("credit from before compaction became due is spent one step at a time")
    mutating func arrears() {
        pace.credit(recordCount: 1_000, byteCount: 1 << 30)
        #expect(pace.takeSteps(isDue: false) == 0)
        var steps = 0
        while true {
            let count = pace.takeSteps(isDue: true)
            guard count > 0 else { break }
            #expect(count == 1)
            steps += count
        }
        #expect(steps == 4 * 16)
    }

    @Test("a step is never larger than a segment")
    func smallSegments() {
        var pace = CompactionPace(stepByteCount: 1 << 20, segmentByteCount: 65_536)
        pace.credit(recordCount: 0, byteCount: 16_384)
        #expect(pace.takeSteps(isDue: true) == 1)
    }
}
