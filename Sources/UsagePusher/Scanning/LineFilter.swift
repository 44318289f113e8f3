import Foundation

/// Finds the lines of a text that contain one of several needles.
struct LineFilter: Sendable {
    let needles: [ByteNeedle]
    /// Longer lines are left out.
    let lineByteCount: Int

    /// The lines that begin at `first` or later, in order, without their newlines.
    func lines(in text: UnsafeRawBufferPointer, from first: Int = 0) -> [Range<Int>] {
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

/// The filtered lines of a text that arrives in chunks. Memory is bounded by a chunk and a line.
struct LineStream {
    private let filter: LineFilter
    /// The beginning of a line that is not complete yet.
    private var pending: [UInt8] = []
    /// Where `pending` begins.
    private var offset: Int64 = 0
    /// True inside a line that is too long to keep.
    private var isInsideLongLine = false

    init(_ filter: LineFilter) { self.filter = filter }

    /// Passes the lines that `chunk` completes to `line`, in order, with their offsets in the text.
    mutating func add(_ chunk: UnsafeRawBufferPointer, line: (Data, Int64) -> Void) {
        let last = Newline.lastOffset(in: chunk).map { pending.count + $0 }
        pending.append(contentsOf: chunk)
        if let last {
            pending.withUnsafeBytes { bytes in
                let complete = UnsafeRawBufferPointer(rebasing: bytes[...last])
                let first = isInsideLongLine ? Newline.firstOffset(in: complete)! + 1 : 0
                for range in filter.lines(in: complete, from: first) {
                    line(Data(bytes[range]), offset + Int64(range.lowerBound))
                }
            }
            drop(last + 1)
            isInsideLongLine = false
        }
        if isInsideLongLine || pending.count > filter.lineByteCount {
            drop(pending.count)
            isInsideLongLine = true
        }
    }

    private mutating func drop(_ count: Int) {
        pending.removeFirst(count)
        offset += Int64(count)
    }
}
