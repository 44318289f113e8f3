/// How much compaction the writes that were made pay for, so that its work stays in proportion to
/// theirs.
///
/// With four bytes to look at for each byte written, a log whose oldest segment is half dead still
/// shrinks faster than it grows.
struct CompactionPace: Sendable, Equatable {
    /// Bytes that one step looks at.
    let stepByteCount: Int
    let segmentByteCount: Int
    private(set) var creditByteCount = 0
    /// The part of it that the writes since the last pause have brought.
    private var recentByteCount = 0

    private static let creditPerByte = 4
    /// Bytes of a frame and of what it says besides key and value.
    private static let frameByteCount = 128

    init(stepByteCount: Int, segmentByteCount: Int) {
        self.stepByteCount = max(1, min(stepByteCount, segmentByteCount))
        self.segmentByteCount = segmentByteCount
    }

    mutating func note(recordCount: Int, byteCount: Int) {
        let credit = Self.creditPerByte * (byteCount + recordCount * Self.frameByteCount)
        // A few segments' worth at most, so that an idle hour does not turn into a long time of work.
        creditByteCount = min(creditByteCount + credit, 4 * segmentByteCount)
        recentByteCount = min(recentByteCount + credit, segmentByteCount)
    }

    /// How many steps to make in this pause between two groups; they are paid for.
    ///
    /// One, where it can be paid, so that the next group waits for little. More only where the last
    /// group alone pays for more, as it took long itself; at most a segment's worth.
    mutating func takeSteps(isDue: Bool) -> Int {
        let recent = (recentByteCount + stepByteCount - 1) / stepByteCount
        recentByteCount = 0
        guard isDue else { return 0 }
        let count = min(creditByteCount / stepByteCount, max(1, recent))
        creditByteCount -= count * stepByteCount
        return count
    }
}
