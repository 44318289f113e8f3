import Essentials

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
                nextHits[index] = needles[index].firstOffset(in: text, from: lineStart, to: text.count)
            }
        }
        return lines
    }
}
