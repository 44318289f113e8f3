import Foundation

/// How far back in a file lines have been looked at.
struct TailPosition: Sendable, Hashable {
    /// Everything from here on is done.
    var offset: Int64
    /// True inside a line that is too long to keep: what ends here is skipped back to its start.
    var isInsideLongLine = false
}

/// Hands out the lines of a file that contain one of some needles, newest first.
///
/// Reads backwards in chunks. Lines without a needle are never copied out; a line longer than
/// `lineByteCount` is passed over chunk by chunk without being kept. Bytes after the last newline
/// are ignored: the writer is not done with them.
struct TailReader {
    /// The exclusive upper end: one past the last newline. Nil until it has been found, and when
    /// there is no newline at all.
    private(set) var end: Int64?
    private(set) var position: TailPosition
    /// Nothing before this offset is read.
    private let start: Int64
    private let needles: [ByteNeedle]
    private let chunkByteCount: Int
    private let lineByteCount: Int
    /// The bytes from `position.offset` to the end of the line that begins further back, with its
    /// newline.
    private var pending: [UInt8] = []

    /// Starts at the end of a file of `byteCount` bytes and goes back to `start`, which must be 0
    /// or just after a newline.
    init(
        byteCount: Int64, start: Int64 = 0, needles: [ByteNeedle], chunkByteCount: Int = 65_536,
        lineByteCount: Int
    ) {
        self.start = start
        self.needles = needles
        self.chunkByteCount = chunkByteCount
        self.lineByteCount = lineByteCount
        position = TailPosition(offset: max(start, byteCount))
    }

    /// Goes on where an earlier reader of the same file stopped; `resume` is its `resumePosition`.
    init(
        resuming resume: TailPosition, needles: [ByteNeedle], chunkByteCount: Int = 65_536,
        lineByteCount: Int
    ) {
        self.init(
            byteCount: resume.offset, needles: needles, chunkByteCount: chunkByteCount,
            lineByteCount: lineByteCount)
        position = resume
        end = resume.offset
    }

    var isDone: Bool { position.offset <= start }

    /// Where another reader can go on: a line begun but not finished is read again.
    var resumePosition: TailPosition {
        TailPosition(
            offset: position.offset + Int64(pending.count),
            isInsideLongLine: position.isInsideLongLine || end == nil)
    }

    /// Reads one chunk and passes on its complete lines that hold a needle, newest first.
    ///
    /// - Returns: false when the file is done, cannot be read, or `budget` has no bytes left (then
    ///   the budget is marked).
    mutating func readChunk(
        of file: ReadOnlyFile, budget: inout ScanBudget, line: (Data) -> Void
    ) -> Bool {
        guard !isDone else { return false }
        let allowed = budget.bytesLeft
        guard allowed > 0 else {
            budget.noteExceeded()
            return false
        }
        let count = Int(min(Int64(min(chunkByteCount, allowed)), position.offset - start))
        let from = position.offset - Int64(count)
        var window = file.bytes(at: from, count: count)
        budget.noteRead(window.count)
        // The file has shrunk: what was read before no longer joins on.
        guard window.count == count else {
            position = TailPosition(offset: start)
            pending = []
            return false
        }
        if end == nil { trimAfterLastNewline(&window, from: from) }
        if position.isInsideLongLine { skipLongLine(&window) }
        if end != nil, !position.isInsideLongLine {
            window.append(contentsOf: pending)
            pending = []
            takeLines(from: &window, reachesStart: from == start, line: line)
        }
        position.offset = from
        if isDone { pending = [] }
        return true
    }

    private mutating func trimAfterLastNewline(_ window: inout [UInt8], from: Int64) {
        guard let last = window.withUnsafeBytes(Newline.lastOffset) else { return }
        window.removeSubrange((last + 1)...)
        end = from + Int64(last) + 1
    }

    private mutating func skipLongLine(_ window: inout [UInt8]) {
        guard let last = window.withUnsafeBytes(Newline.lastOffset) else { return }
        window.removeSubrange((last + 1)...)
        position.isInsideLongLine = false
    }

    /// Passes on the complete lines of `window`, which ends with a newline, and keeps the rest.
    private mutating func takeLines(
        from window: inout [UInt8], reachesStart: Bool, line: (Data) -> Void
    ) {
        let firstLine =
            reachesStart
            ? 0 : window.withUnsafeBytes { Newline.firstOffset(in: $0) }.map { $0 + 1 } ?? 0
        window.withUnsafeBytes { bytes in
            for range in hits(in: bytes, from: firstLine).reversed() {
                line(Data(UnsafeRawBufferPointer(rebasing: bytes[range])))
            }
        }
        window.removeSubrange(firstLine...)
        guard !reachesStart else { return }
        if window.count > lineByteCount {
            position.isInsideLongLine = true
        } else {
            pending = window
        }
    }

    /// The lines from `first` on that hold a needle and are not too long, without their newlines.
    private func hits(in text: UnsafeRawBufferPointer, from first: Int) -> [Range<Int>] {
        var lines: [Range<Int>] = []
        var nextHits = needles.map { $0.firstOffset(in: text, from: first, to: text.count) }
        var lineStart = first
        while let hit = nextHits.compactMap({ $0 }).min() {
            var start = hit
            while start > lineStart, text[start - 1] != UInt8(ascii: "\n") { start -= 1 }
            lineStart = start
            let lineEnd = Newline.firstOffset(in: text, from: hit) ?? text.count
            if lineEnd - lineStart <= lineByteCount { lines.append(lineStart..<lineEnd) }
            lineStart = min(lineEnd + 1, text.count)
            for index in needles.indices {
                guard let old = nextHits[index], old < lineStart else { continue }
                nextHits[index] = needles[index].firstOffset(
                    in: text, from: lineStart, to: text.count)
            }
        }
        return lines
    }
}
