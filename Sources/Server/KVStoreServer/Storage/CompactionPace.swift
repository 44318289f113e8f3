/// Keeps the work of compaction proportional to that of writing.
///
/// Every byte written pays for the examination of four, so a log whose oldest segment is half dead
/// shrinks faster than it grows.
struct CompactionPace: Sendable, Equatable {
    /// Bytes that one step examines.
    let stepByteCount: Int
    let segmentByteCount: Int
    private(set) var creditByteCount = 0
    /// The credit of writes since the last pause.
    private var recentByteCount = 0

    private static let creditPerByte = 4
    /// Bytes of a frame besides key and value.
    private static let frameByteCount = 128

    init(stepByteCount: Int, segmentByteCount: Int) {
        self.stepByteCount = max(1, min(stepByteCount, segmentByteCount))
        self.segmentByteCount = segmentByteCount
    }

    mutating func credit(recordCount: Int, byteCount: Int) {
        let credit = Self.creditPerByte * (byteCount + recordCount * Self.frameByteCount)
        // Bounded, so that credit from hours without compaction does not delay requests for long.
        creditByteCount = min(creditByteCount + credit, 4 * segmentByteCount)
        recentByteCount = min(recentByteCount + credit, segmentByteCount)
    }

    /// The number of steps to make in this pause between two groups; the credit pays for them.
    ///
    /// At most one, so that the next group waits briefly, unless the last group alone pays for more:
    /// it took long itself. Never more than a segment's worth.
    mutating func takeSteps(isDue: Bool) -> Int {
        let recent = (recentByteCount + stepByteCount - 1) / stepByteCount
        recentByteCount = 0
        guard isDue else { return 0 }
        let count = min(creditByteCount / stepByteCount, max(1, recent))
        creditByteCount -= count * stepByteCount
        return count
    }
}
