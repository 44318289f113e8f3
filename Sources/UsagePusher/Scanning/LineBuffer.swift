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

    /// Takes `count` bytes that were put into `free`, and passes the lines that they complete to `line`, without newlines.
    ///
    /// - Returns: the number of lines that were left out because they are too long.
    func add(_ count: Int, line: (UnsafeRawBufferPointer) -> Void) -> Int {
        let base = UnsafeRawPointer(bytes.baseAddress!)
        let total = pendingCount + count
        var start = 0
        var searched = pendingCount
        while let hit = memchr(base + searched, 0x0A, total - searched) {
            let newline = base.distance(to: UnsafeRawPointer(hit))
            if isInsideLongLine {
                isInsideLongLine = false
            } else if newline > start {
                line(UnsafeRawBufferPointer(start: base + start, count: newline - start))
            }
            start = newline + 1
            searched = start
        }
        pendingCount = total - start
        offset += Int64(start)
        if start > 0, pendingCount > 0 { memmove(bytes.baseAddress!, base + start, pendingCount) }
        return makeRoom()
    }

    private func makeRoom() -> Int {
        if isInsideLongLine {
            offset += Int64(pendingCount)
            pendingCount = 0
        }
        guard pendingCount == bytes.count else { return 0 }
        guard bytes.count < lineByteCount else {
            isInsideLongLine = true
            offset += Int64(pendingCount)
            pendingCount = 0
            return 1
        }
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: bytes.count * 4, alignment: 16)
        memcpy(larger.baseAddress!, bytes.baseAddress!, pendingCount)
        bytes.deallocate()
        bytes = larger
        return 0
    }
}
