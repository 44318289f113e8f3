import Testing

@testable import kvsd

@Suite("Compaction pace")
struct CompactionPaceTests {
    @Test("no step before a quarter of a segment has been written, then one for each quarter")
    func pace() {
        var pace = CompactionPace(segmentByteCount: 65_536)
        #expect(pace.takeStep() == false)
        pace.note(recordCount: 0, byteCount: 16_383)
        #expect(pace.takeStep() == false)
        pace.note(recordCount: 0, byteCount: 1)
        #expect(pace.takeStep() == true)
        #expect(pace.takeStep() == false)
    }

    @Test("however much was written, at most four steps are owed")
    func bounded() {
        var pace = CompactionPace(segmentByteCount: 65_536)
        pace.note(recordCount: 1_000, byteCount: 1 << 30)
        var steps = 0
        while pace.takeStep() { steps += 1 }
        #expect(steps == 4)
    }
}
