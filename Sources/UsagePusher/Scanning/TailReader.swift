import Essentials
import LocalFiles

/// How far back in a file lines have been read.
struct TailPosition: Sendable, Hashable {
    /// Everything from here on is done.
    var offset: Int64
    /// True inside a line that is too long to keep, and is skipped back to its start.
    var isInsideLongLine = false
}

/// Reads the lines of a file that contain one of several needles, newest first.
///
/// Reads backwards in chunks. Lines without a needle are never copied; a line longer than `lineByteCount` is skipped
/// chunk by chunk. Bytes after the last newline are ignored: the writer has not finished them.
struct TailReader {
    /// One past the last newline; nil until that is found, and when there is none.
    private(set) var end: Int64?
    private(set) var position: TailPosition
    private let start: Int64
    private let filter: LineFilter
    private let chunkByteCount: Int
    /// The rest, from `position.offset` on and with its newline, of a line that begins further back.
    private var pending: [UInt8] = []

    /// Starts at the end of a file of `byteCount` bytes and goes back to `start`, which must be 0
    /// or just after a newline.
    init(byteCount: Int64, start: Int64 = 0, needles: [ByteNeedle], chunkByteCount: Int = 65_536, lineByteCount: Int) {
        self.start = start
        filter = LineFilter(needles: needles, lineByteCount: lineByteCount)
        self.chunkByteCount = chunkByteCount
        position = TailPosition(offset: max(start, byteCount))
    }

    /// Continues where an earlier reader of the same file stopped, at its `resumePosition`.
    init(resuming resume: TailPosition, needles: [ByteNeedle], chunkByteCount: Int = 65_536, lineByteCount: Int) {
        self.init(
            byteCount: resume.offset, needles: needles, chunkByteCount: chunkByteCount, lineByteCount: lineByteCount)
        position = resume
        end = resume.offset
    }

    var isDone: Bool { position.offset <= start }

    /// Where another reader can continue: a line read in part is read again.
    var resumePosition: TailPosition {
        TailPosition(
            offset: position.offset + Int64(pending.count),
            isInsideLongLine: position.isInsideLongLine || end == nil)
    }

    /// Reads one chunk and passes its complete lines that contain a needle, with their offsets in the file, to
    /// `line`, newest first.
    ///
    /// - Returns: false when the file is done or cannot be read, or `budget` is exhausted.
    mutating func readChunk(of file: OpenFile, budget: inout ScanBudget, line: (Data, Int64) -> Void) -> Bool {
        guard !isDone else { return false }
        let allowed = budget.bytesLeft
        guard allowed > 0 else {
            budget.markExceeded()
            return false
        }
        let count = Int(min(Int64(min(chunkByteCount, allowed)), position.offset - start))
        let from = position.offset - Int64(count)
        // Read again in the next pass; the scan stays where it is, as for a file that has shrunk.
        var window = (try? file.bytes(at: from, count: count)) ?? []
        budget.recordRead(window.count)
        // The file has shrunk: what was read before no longer adjoins.
        guard window.count == count else {
            position = TailPosition(offset: start)
            pending = []
            return false
        }
        if end == nil, let count = Self.trimAfterLastNewline(&window) { end = from + Int64(count) }
        if position.isInsideLongLine, Self.trimAfterLastNewline(&window) != nil {
            position.isInsideLongLine = false
        }
        if end != nil, !position.isInsideLongLine {
            window.append(contentsOf: pending)
            pending = []
            takeLines(from: &window, at: from, reachesStart: from == start, line: line)
        }
        position.offset = from
        if isDone { pending = [] }
        return true
    }

    /// Returns what is left; nil, and nothing is trimmed, when there is no newline.
    private static func trimAfterLastNewline(_ window: inout [UInt8]) -> Int? {
        guard let last = window.withUnsafeBytes(Newline.lastOffset) else { return nil }
        window.removeSubrange((last + 1)...)
        return window.count
    }

    /// Passes the complete lines of `window`, which begins at `offset` and ends with a newline, to `line` and keeps
    /// the rest.
    private mutating func takeLines(
        from window: inout [UInt8], at offset: Int64, reachesStart: Bool, line: (Data, Int64) -> Void
    ) {
        let firstLine =
            reachesStart
            ? 0 : window.withUnsafeBytes { Newline.firstOffset(in: $0) }.map { $0 + 1 } ?? 0
        window.withUnsafeBytes { bytes in
            for range in filter.lines(in: bytes, from: firstLine).reversed() {
                line(Data(UnsafeRawBufferPointer(rebasing: bytes[range])), offset + Int64(range.lowerBound))
            }
        }
        window.removeSubrange(firstLine...)
        guard !reachesStart else { return }
        if window.count > filter.lineByteCount {
            position.isInsideLongLine = true
        } else {
            pending = window
        }
    }
}
