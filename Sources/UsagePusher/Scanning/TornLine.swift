/// A line of which a crash has left only the beginning, and behind which the tool, started again, has written another
/// one without a newline between them.
enum TornLine {
    private static let boundary = ByteNeedle("}{\"")
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
            if isWhole { return isMember(of: line, at: brace) ? nil : text }
            bytesLeft -= byteCount
            start = brace
        }
        return nil
    }

    /// Whether an object that ends with the line is one of the torn line's own values: it is where one is expected, and
    /// does not begin with the member that the line begins with.
    private static func isMember(of line: UnsafeRawBufferPointer, at brace: Int) -> Bool {
        var isInString = false
        var lastByte: UInt8 = 0
        var index = 0
        while index < brace {
            let byte = line[index]
            if byte == UInt8(ascii: "\"") { isInString.toggle() }
            if byte > UInt8(ascii: " ") { lastByte = byte }
            index += isInString && byte == UInt8(ascii: "\\") ? 2 : 1
        }
        let isExpected = [UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: ",")].contains(lastByte)
        return !isInString && isExpected && firstKey(of: line[brace...]) != firstKey(of: line[...])
    }

    private static func firstKey(of text: Slice<UnsafeRawBufferPointer>) -> UInt64? {
        var cursor = JSONCursor(UnsafeRawBufferPointer(rebasing: text))
        return cursor.enterObject() ? cursor.nextKey()?.hash : nil
    }

    /// Whether another object may begin where one ends. Whole lines hardly ever have such bytes.
    static func isSuspected(in line: UnsafeRawBufferPointer) -> Bool {
        boundary.isIn(line)
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
