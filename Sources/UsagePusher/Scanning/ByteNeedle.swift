import Essentials

/// A text to search for in raw bytes, before anything is parsed.
struct ByteNeedle: Sendable {
    private let bytes: [UInt8]
    /// Index of the byte to search for first: one that is rare in JSON text.
    private let pivot: Int

    init(_ text: StaticString) {
        bytes = text.withUTF8Buffer { Array($0) }
        precondition(!bytes.isEmpty, "a needle has at least one byte")
        pivot =
            bytes.firstIndex { $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "|") }
            ?? bytes.firstIndex { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) } ?? 0
    }

    func isIn(_ text: UnsafeRawBufferPointer) -> Bool {
        firstOffset(in: text, from: 0, to: text.count) != nil
    }

    /// Offset of the first occurrence that lies within `start..<end`.
    func firstOffset(in text: UnsafeRawBufferPointer, from start: Int, to end: Int) -> Int? {
        guard let base = text.baseAddress else { return nil }
        var position = start + pivot
        let lastPivot = end - bytes.count + pivot
        while position <= lastPivot {
            guard let hit = memchr(base + position, Int32(bytes[pivot]), lastPivot - position + 1) else { return nil }
            let found = base.distance(to: UnsafeRawPointer(hit)) - pivot
            if memcmp(base + found, bytes, bytes.count) == 0 { return found }
            position = found + pivot + 1
        }
        return nil
    }
}

/// Finds newlines with the C library's search: whole files pass through here.
enum Newline {
    private static let byte = UInt8(ascii: "\n")

    static func firstOffset(in text: UnsafeRawBufferPointer, from start: Int = 0) -> Int? {
        guard let base = text.baseAddress, start < text.count,
            let hit = memchr(base + start, Int32(byte), text.count - start)
        else { return nil }
        return base.distance(to: UnsafeRawPointer(hit))
    }

    static func lastOffset(in text: UnsafeRawBufferPointer) -> Int? {
        // Most chunks without a newline near their end have none at all: a fast check.
        guard let first = firstOffset(in: text) else { return nil }
        var last = text.count - 1
        while last > first, text[last] != byte { last -= 1 }
        return last
    }
}
