import Foundation

/// A line of which a crash has left only the beginning, and behind which the tool, started again, has written another one
/// without a newline between them.
enum TornLine {
    /// Bytes that are looked at, in lines of this one's length.
    private static let passLimit = 8

    /// The object at the end of a line that does not begin with it; nil when there is none.
    static func lastObject(of line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        var bytesLeft = passLimit * line.count
        var start = line.count
        // From the end, since an object within the one that is looked for ends before the line does.
        while let brace = brace(in: line, before: start), brace > 0, bytesLeft > 0 {
            let text = UnsafeRawBufferPointer(rebasing: line[brace...])
            let (isWhole, byteCount) = JSONCursor.object(in: text)
            if isWhole { return text }
            bytesLeft -= byteCount
            start = brace
        }
        return nil
    }

    /// Whether another object may begin where one ends. Whole lines hardly ever have such bytes.
    static func isSuspected(in line: UnsafeRawBufferPointer) -> Bool {
        guard var position = line.baseAddress, line.count >= 3 else { return false }
        let last = position + line.count - 3
        while position <= last,
            let hit = memchr(position, Int32(UInt8(ascii: "}")), last - position + 1)
        {
            if hit.load(fromByteOffset: 1, as: UInt8.self) == UInt8(ascii: "{"),
                hit.load(fromByteOffset: 2, as: UInt8.self) == UInt8(ascii: "\"")
            {
                return true
            }
            position = UnsafeRawPointer(hit) + 1
        }
        return false
    }

    /// The last place before `end` where an object with members may begin.
    private static func brace(in line: UnsafeRawBufferPointer, before end: Int) -> Int? {
        var index = min(end, line.count - 1) - 1
        while index >= 0 {
            if line[index] == UInt8(ascii: "{"), line[index + 1] == UInt8(ascii: "\"") {
                return index
            }
            index -= 1
        }
        return nil
    }
}
