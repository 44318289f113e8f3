import KVStoreCore
import LocalFiles

/// Reads the frames of one segment through a window of bytes.
final class SegmentScanner {
    let file: any LogFile
    let logID: UInt64
    let segment: UInt64

    private var window: UnsafeMutableRawBufferPointer
    private var windowStart = 0
    private var windowCount = 0

    enum Finding {
        /// A valid frame and the offset after it.
        case frame(LogFrame, next: Int)
        /// No frame has been written here.
        case end
        /// Bytes that are not a frame.
        case invalid
    }

    init(file: any LogFile, logID: UInt64, segment: UInt64) {
        self.file = file
        self.logID = logID
        self.segment = segment
        window = .allocate(byteCount: Self.windowByteCount, alignment: 16)
    }

    deinit { window.deallocate() }

    private static let windowByteCount = 256 * 1_024
    private static let shortReadByteCount = 8 * 1_024
    /// How much to read at once: little near the end of a file that has just grown.
    private var readByteCount = windowByteCount

    /// Discards what has been read: the file may have grown, most likely by a little.
    func refresh() {
        windowCount = 0
        readByteCount = Self.shortReadByteCount
    }

    func finding(at offset: Int) throws(FileError) -> Finding {
        let left = file.byteCount - offset - FrameFormat.headerByteCount
        guard left > 0 else { return .end }
        guard let header = try bytes(at: offset, count: FrameFormat.headerByteCount) else {
            return .end
        }
        let length = header.littleEndian(UInt32.self, at: 0)
        if length == 0 { return .end }
        let sum = header.littleEndian(UInt32.self, at: 4)
        let tail = header.littleEndian(UInt64.self, at: 8)
        let kind = UInt8(truncatingIfNeeded: tail >> 32)
        guard Int(length) <= left, kind != 0, tail >> 40 == 0, tail & 0xFFFF_FFFF <= offset,
            let frame = try bytes(at: offset, count: FrameFormat.headerByteCount + Int(length))
        else { return .invalid }
        let payload = UnsafeRawBufferPointer(rebasing: frame[FrameFormat.headerByteCount...])
        let expected = FrameFormat.checksum(
            logID: logID, segment: segment, offset: offset, length: length, tail: tail, payload: payload)
        guard sum == expected else { return .invalid }
        return .frame(
            LogFrame(
                position: LogPosition(segment: segment, offset: offset), kind: kind, payload: payload,
                durable: Int(tail & 0xFFFF_FFFF)), next: offset + FrameFormat.byteCount(payload: Int(length)))
    }

    /// The offset of the next valid frame after `offset`, or nil.
    func nextFrame(after offset: Int) throws(FileError) -> Int? {
        var place = offset + FrameFormat.alignment
        while place + FrameFormat.headerByteCount < file.byteCount {
            if case .frame = try finding(at: place) { return place }
            place += FrameFormat.alignment
        }
        return nil
    }

    /// The offset after the last nonzero byte at or after `offset`; nil when all are zero.
    func endOfContent(from offset: Int) throws(FileError) -> Int? {
        var end: Int?
        var place = offset
        while place < file.byteCount {
            readByteCount = Self.windowByteCount
            let count = min(Self.windowByteCount, file.byteCount - place)
            guard let chunk = try bytes(at: place, count: count) else { break }
            let used = chunk.countWithoutTrailingZeros
            if used > 0 { end = place + used }
            place += count
        }
        return end
    }

    /// The header that turns arbitrary bytes from `start` to `end` into a void frame. A lost frame had a payload, so
    /// there is room for one.
    func voidHeader(from start: Int, to end: Int) throws(FileError) -> [UInt8] {
        let count = end - start - FrameFormat.headerByteCount
        precondition(count > 0)
        guard let bytes = try bytes(at: start + FrameFormat.headerByteCount, count: count) else {
            return []
        }
        var header: [UInt8] = []
        FrameFormat.appendHeader(
            of: bytes, kind: FrameFormat.voidKind, to: &header, logID: logID, segment: segment,
            offset: start, durable: 0)
        return header
    }

    /// `count` bytes at `offset`, valid until the next call; nil past the end of the file.
    func bytes(at offset: Int, count: Int) throws(FileError) -> UnsafeRawBufferPointer? {
        if offset < windowStart || offset + count > windowStart + windowCount {
            guard offset + count <= file.byteCount else { return nil }
            if count > window.count {
                window.deallocate()
                window = .allocate(byteCount: count, alignment: 16)
            }
            let wanted = min(max(count, readByteCount), window.count)
            windowCount = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: window[0..<wanted]), at: offset)
            windowStart = offset
            readByteCount = Self.windowByteCount
            guard windowCount >= count else { return nil }
        }
        let start = offset - windowStart
        return UnsafeRawBufferPointer(rebasing: window[start..<start + count])
    }
}

extension UnsafeRawBufferPointer {
    /// The count without trailing zeros; compares eight bytes at a time.
    fileprivate var countWithoutTrailingZeros: Int {
        var end = count
        while end >= 8, loadUnaligned(fromByteOffset: end - 8, as: UInt64.self) == 0 { end -= 8 }
        while end > 0, self[end - 1] == 0 { end -= 1 }
        return end
    }
}
