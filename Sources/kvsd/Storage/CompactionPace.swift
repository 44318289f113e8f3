/// How much compaction the writes that were made pay for, so that its work stays in proportion to
/// theirs.
///
/// A step moves at most one segment. With four bytes of credit for each byte written, a log whose
/// oldest segment is half dead still shrinks faster than it grows.
struct CompactionPace: Sendable, Equatable {
    let segmentByteCount: Int
    private(set) var creditByteCount = 0

    private static let creditPerByte = 4
    /// Bytes of a frame and of what it says besides key and value.
    private static let frameByteCount = 128

    init(segmentByteCount: Int) { self.segmentByteCount = segmentByteCount }

    mutating func note(recordCount: Int, byteCount: Int) {
        let written = byteCount + recordCount * Self.frameByteCount
        // A few steps' worth at most, so that an idle hour does not turn into a burst.
        creditByteCount = min(
            creditByteCount + Self.creditPerByte * written, 4 * segmentByteCount)
    }

    /// Whether a step may be made now; if so, it is paid for.
    mutating func takeStep() -> Bool {
        guard creditByteCount >= segmentByteCount else { return false }
        creditByteCount -= segmentByteCount
        return true
    }
}
