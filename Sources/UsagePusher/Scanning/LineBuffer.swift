import Dispatch
import Essentials

/// Splits bytes that arrive in pieces into lines, in memory bounded by the longest line that is kept; or keeps them
/// as one document, as long as such a line.
///
/// What a crash leaves of a line is none: zero bytes where a line begins are no part of it, and what is before them is
/// left out. For one thread, and meant to be used for many files.
final class LineBuffer {
    private var bytes: UnsafeMutableRawBufferPointer
    /// Bytes at the beginning that are not the end of a line yet.
    private var pendingCount = 0
    /// How many bytes of the pending line were taken out of its strings.
    private var removedCount: Int64 = 0
    private let byteCount: Int
    private let lineByteCount: Int
    private let largeLines: DispatchSemaphore?
    private var isLarge = false
    /// Where the pending bytes begin in the text.
    private(set) var offset: Int64 = 0
    /// True inside a line that is too long to keep.
    private(set) var isInsideLongLine = false
    /// Where zeros begin that were dropped, if nothing has come after them.
    private var zerosOffset: Int64?

    /// A line of so many bytes is shortened before it gets more memory, to strings of so many bytes, which is more
    /// than anything has that is counted or shown.
    private static let shortenedByteCount = 4 * 1_048_576
    private static let keptByteCount = 1_024
    /// In a document, whose strings can have rows with counts.
    private static let shortenedDocumentByteCount = 16 * 1_048_576
    private static let keptDocumentByteCount = 65_536

    /// - Parameters:
    ///   - byteCount: bytes that are read at once.
    ///   - lineByteCount: lines that are still longer with their strings cut are left out.
    ///   - largeLines: held while this buffer is larger than 4 MiB, so that of several only one is.
    init(byteCount: Int = 262_144, lineByteCount: Int, largeLines: DispatchSemaphore? = nil) {
        self.byteCount = byteCount
        self.lineByteCount = lineByteCount
        self.largeLines = largeLines
        bytes = .allocate(byteCount: byteCount, alignment: 16)
    }

    deinit {
        bytes.deallocate()
        if isLarge { largeLines?.signal() }
    }

    /// Begins another text, or goes on with one.
    func begin(at offset: Int64 = 0, isInsideLongLine: Bool = false) {
        self.offset = offset
        self.isInsideLongLine = isInsideLongLine
        zerosOffset = nil
        pendingCount = 0
        removedCount = 0
        if bytes.count > byteCount { resize(to: byteCount) }
    }

    /// Where the next bytes of the text belong.
    var free: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: bytes[pendingCount...])
    }

    /// Whether more zeros need not be read.
    var isInsideZeros: Bool { zerosOffset != nil && pendingCount == 0 }

    /// Where to go on with the text later: what is still zeros may be written.
    var resumeOffset: Int64 { zerosOffset ?? offset }

    /// Where the next bytes come from.
    var end: Int64 { offset + removedCount + Int64(pendingCount) }

    /// Takes `count` bytes that were put into `free`, and passes the lines that they complete to `line`, without
    /// newlines and with their offsets in the text. Empty lines are left out.
    ///
    /// - Returns: the number of lines that were left out because they are too long.
    func add(_ count: Int, line: (UnsafeRawBufferPointer, Int64) -> Void) -> Int {
        let base = UnsafeRawPointer(bytes.baseAddress!)
        let total = pendingCount + count
        var tooLongCount = 0
        var start = 0
        var searched = pendingCount
        let formerZeros = zerosOffset
        zerosOffset = nil
        while let hit = memchr(base + searched, 0x0A, total - searched) {
            let newline = base.distance(to: UnsafeRawPointer(hit))
            if isInsideLongLine {
                isInsideLongLine = false
            } else if !pass(start..<newline, line) {
                tooLongCount += 1
            }
            start = newline + 1
            searched = start
        }
        drop(start, of: total)
        if isInsideLongLine {
            if pendingCount > 0, bytes[pendingCount - 1] == 0 {
                zerosOffset = formerZeros ?? offset
            }
            drop(pendingCount, of: pendingCount)
        }
        if start == 0, hasOnlyZeros { zerosOffset = formerZeros }
        if pendingCount == bytes.count { tooLongCount += makeRoom(after: formerZeros) }
        if isLarge, pendingCount < byteCount { resize(to: byteCount) }
        return tooLongCount
    }

    /// Takes bytes of any number, as the other `add` does.
    func add(_ chunk: UnsafeRawBufferPointer, line: (UnsafeRawBufferPointer, Int64) -> Void) -> Int {
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

    /// At the end of the text passes what follows the last newline, if it is a whole object and so a line to which only
    /// the newline is missing.
    func passLastLine(to line: (UnsafeRawBufferPointer, Int64) -> Void) {
        guard !isInsideLongLine else { return }
        let pending = UnsafeRawBufferPointer(rebasing: bytes[..<pendingCount])
        guard let last = pending.lastIndex(where: { $0 > 0x20 }),
            pending[last] == UInt8(ascii: "}"), JSONCursor.object(in: pending).isWhole
        else { return }
        if pass(0..<last + 1, line) { drop(last + 1, of: pendingCount) }
    }

    /// Takes `count` bytes of a document that were put into `free`.
    ///
    /// - Returns: false when it is too long, also with its strings cut.
    func addToDocument(_ count: Int) -> Bool {
        pendingCount += count
        guard pendingCount == bytes.count else { return true }
        if pendingCount >= Self.shortenedDocumentByteCount { shortenStrings(to: Self.keptDocumentByteCount) }
        return hasGrown()
    }

    /// What has been added of a document.
    var document: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[..<pendingCount]) }

    /// Goes on behind zeros that were not read.
    func skipZeros(to offset: Int64) {
        precondition(isInsideZeros && offset >= end)
        self.offset = offset
    }

    /// - Returns: false for a line that is left out.
    private func pass(_ range: Range<Int>, _ line: (UnsafeRawBufferPointer, Int64) -> Void) -> Bool {
        var start = range.lowerBound
        while start < range.upperBound, bytes[start] == 0 { start += 1 }
        guard start < range.upperBound else { return true }
        guard range.upperBound - start <= lineByteCount else { return false }
        let text = UnsafeRawBufferPointer(rebasing: bytes[start..<range.upperBound])
        // Only the first one can have been shortened.
        let isShortened = removedCount > 0 && range.lowerBound == 0
        if isShortened, !JSONCursor.object(in: text).isWhole { return false }
        line(text, offset + Int64(start) + (range.lowerBound == 0 ? 0 : removedCount))
        return true
    }

    private func drop(_ count: Int, of total: Int) {
        pendingCount = total - count
        guard count > 0 else { return }
        offset += Int64(count) + removedCount
        removedCount = 0
        if pendingCount > 0 {
            memmove(bytes.baseAddress!, bytes.baseAddress! + count, pendingCount)
        }
    }

    // MARK: Long lines

    /// - Returns: the number of lines that were left out.
    private func makeRoom(after formerZeros: Int64?) -> Int {
        var leftOutCount = 0
        if let zero = lastZero {
            var start = zero
            while start > 0, bytes[start - 1] == 0 { start -= 1 }
            if bytes[..<start].contains(where: { $0 > 0x20 }) { leftOutCount = 1 }
            if zero == pendingCount - 1 {
                zerosOffset = (start == 0 ? formerZeros : nil) ?? offset + removedCount + Int64(start)
            }
            drop(zero + 1, of: pendingCount)
        }
        if pendingCount >= min(Self.shortenedByteCount, lineByteCount) {
            shortenStrings(to: Self.keptByteCount)
        }
        guard !hasGrown() else { return leftOutCount }
        isInsideLongLine = true
        drop(pendingCount, of: pendingCount)
        return leftOutCount + 1
    }

    /// Makes room for more bytes, unless there is enough.
    ///
    /// - Returns: false when there is none.
    private func hasGrown() -> Bool {
        guard pendingCount > bytes.count / 4 * 3 else { return true }
        let largest = lineByteCount + byteCount
        guard bytes.count < largest else { return false }
        resize(to: min(bytes.count * 4, largest))
        return true
    }

    private var hasOnlyZeros: Bool {
        guard pendingCount > 0, bytes[0] == 0, let base = bytes.baseAddress else { return false }
        return memcmp(base, base + 1, pendingCount - 1) == 0
    }

    private var lastZero: Int? {
        guard memchr(bytes.baseAddress!, 0, pendingCount) != nil else { return nil }
        var index = pendingCount - 1
        while bytes[index] != 0 { index -= 1 }
        return index
    }

    private func resize(to count: Int) {
        let isLarge = count > Self.shortenedByteCount + byteCount
        if isLarge, !self.isLarge { largeLines?.wait() }
        let resized = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        memcpy(resized.baseAddress!, bytes.baseAddress!, pendingCount)
        bytes.deallocate()
        bytes = resized
        if self.isLarge, !isLarge { largeLines?.signal() }
        self.isLarge = isLarge
    }

    /// Cuts the strings of the pending line: what is counted is in none that is long, as images and files are.
    private func shortenStrings(to keptByteCount: Int) {
        let base = bytes.baseAddress!
        let quote = Int32(UInt8(ascii: "\""))
        var (source, target) = (0, 0)
        func keep(_ count: Int) {
            if source != target { memmove(base + target, base + source, count) }
            source += count
            target += count
        }
        while source < pendingCount {
            guard let hit = memchr(base + source, quote, pendingCount - source) else { break }
            keep(base.distance(to: hit) - source + 1)
            let content = LongString(bytes[source..<pendingCount], keptByteCount)
            let end = source + content.count
            keep(content.keptCount)
            source = end
            // A backslash belongs to what comes next.
            if content.endsInsideEscape {
                source -= 1
                keep(1)
            }
            if source < pendingCount { keep(1) }
        }
        keep(pendingCount - source)
        removedCount += Int64(pendingCount - target)
        pendingCount = target
    }
}

/// A JSON string of which the beginning is kept.
private struct LongString {
    /// Bytes up to the closing quote, or to the end of what is known.
    let count: Int
    let keptCount: Int
    let endsInsideEscape: Bool

    /// - Parameters:
    ///   - bytes: from after the opening quote.
    ///   - keptByteCount: the most that is kept.
    init(_ bytes: Slice<UnsafeMutableRawBufferPointer>, _ keptByteCount: Int) {
        let base = bytes.base.baseAddress!
        var end = bytes.startIndex
        var isEscaped = false
        while true {
            let hit = memchr(base + end, Int32(UInt8(ascii: "\"")), bytes.endIndex - end)
            let quote = hit.map { base.distance(to: $0) } ?? bytes.endIndex
            var backslash = quote
            while backslash > bytes.startIndex, bytes[backslash - 1] == UInt8(ascii: "\\") {
                backslash -= 1
            }
            isEscaped = !(quote - backslash).isMultiple(of: 2)
            end = quote
            if hit == nil || !isEscaped { break }
            end += 1
        }
        count = end - bytes.startIndex
        let isCut = count > keptByteCount
        keptCount = isCut ? Self.cut(bytes, keptByteCount) : count
        endsInsideEscape = isCut && isEscaped
    }

    /// Where to cut so that no character and no escape is cut.
    private static func cut(_ bytes: Slice<UnsafeMutableRawBufferPointer>, _ keptByteCount: Int) -> Int {
        var kept = 0
        while kept < keptByteCount {
            let byte = bytes[bytes.startIndex + kept]
            let length =
                switch byte {
                case UInt8(ascii: "\\"):
                    bytes[bytes.startIndex + kept + 1] == UInt8(ascii: "u") ? 6 : 2
                case 0xF0...: 4
                case 0xE0...: 3
                case 0xC0...: 2
                default: 1
                }
            guard kept + length <= keptByteCount else { break }
            kept += length
        }
        return kept
    }
}
