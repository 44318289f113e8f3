import Foundation

/// Splits bytes that arrive in pieces into lines, in memory bounded by the longest line that is kept.
///
/// For one thread, and meant to be used for many files.
final class LineBuffer {
    private var bytes: UnsafeMutableRawBufferPointer
    /// Bytes at the beginning that are not the end of a line yet.
    private var pendingCount = 0
    private let byteCount: Int
    private let lineByteCount: Int
    /// Where the pending bytes begin in the text.
    private(set) var offset: Int64 = 0
    /// True inside a line that is too long to keep.
    private(set) var isInsideLongLine = false

    /// - Parameters:
    ///   - byteCount: bytes that are read at once.
    ///   - lineByteCount: longer lines are left out.
    init(byteCount: Int = 262_144, lineByteCount: Int) {
        self.byteCount = byteCount
        self.lineByteCount = lineByteCount
        bytes = .allocate(byteCount: byteCount, alignment: 16)
    }

    deinit { bytes.deallocate() }

    /// Begins another text, or goes on with one.
    func begin(at offset: Int64 = 0, isInsideLongLine: Bool = false) {
        self.offset = offset
        self.isInsideLongLine = isInsideLongLine
        pendingCount = 0
        if bytes.count > byteCount {
            bytes.deallocate()
            bytes = .allocate(byteCount: byteCount, alignment: 16)
        }
    }

    /// Where the next bytes of the text belong.
    var free: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: bytes[pendingCount...])
    }

    /// Where the next bytes come from.
    var end: Int64 { offset + Int64(pendingCount) }

    /// Takes `count` bytes that were put into `free`, and passes the lines that they complete to `line`, without newlines and
    /// with their offsets in the text. Empty lines are left out.
    ///
    /// - Returns: the number of lines that were left out because they are too long.
    func add(_ count: Int, line: (UnsafeRawBufferPointer, Int64) -> Void) -> Int {
        let base = UnsafeRawPointer(bytes.baseAddress!)
        let total = pendingCount + count
        var tooLongCount = 0
        var start = 0
        var searched = pendingCount
        while let hit = memchr(base + searched, 0x0A, total - searched) {
            let newline = base.distance(to: UnsafeRawPointer(hit))
            if isInsideLongLine {
                isInsideLongLine = false
            } else if newline - start > lineByteCount {
                tooLongCount += 1
            } else if newline > start {
                line(
                    UnsafeRawBufferPointer(start: base + start, count: newline - start),
                    offset + Int64(start))
            }
            start = newline + 1
            searched = start
        }
        drop(start, of: total)
        if !isInsideLongLine, pendingCount > lineByteCount {
            isInsideLongLine = true
            tooLongCount += 1
        }
        if isInsideLongLine { drop(pendingCount, of: pendingCount) }
        if pendingCount == bytes.count { grow() }
        return tooLongCount
    }

    /// Takes bytes of any number, as the other `add` does.
    func add(
        _ chunk: UnsafeRawBufferPointer, line: (UnsafeRawBufferPointer, Int64) -> Void
    ) -> Int {
        var tooLongCount = 0
        var rest = chunk
        while !rest.isEmpty {
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(free.count))
            free.copyMemory(from: piece)
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(piece.count))
            tooLongCount += add(piece.count, line: line)
        }
        return tooLongCount
    }

    private func drop(_ count: Int, of total: Int) {
        pendingCount = total - count
        offset += Int64(count)
        if count > 0, pendingCount > 0 {
            memmove(bytes.baseAddress!, bytes.baseAddress! + count, pendingCount)
        }
    }

    private func grow() {
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: min(bytes.count * 4, lineByteCount + byteCount), alignment: 16)
        memcpy(larger.baseAddress!, bytes.baseAddress!, pendingCount)
        bytes.deallocate()
        bytes = larger
    }
}
