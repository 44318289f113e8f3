import KVStoreCore
import LocalFiles

// The bytes of a segment. `docs/format.md` is normative; numbers are little-endian.
//
// Header, 64 bytes:
//     0   8  magic "UBIQLOG1"
//     8   4  version, 1
//    12   4  bytes of this header, 64
//    16   8  log id, the same in every segment of one log
//    24   8  segment number, from 1
//    32   8  bytes of the segment file
//    40   8  where the frames of the preceding segment end; 0 in the first
//    48   8  log id again, in case the first is damaged
//    56   4  zero
//    60   4  CRC-32C of bytes 0..<60
//
// Frame, at a multiple of 8, contiguous from 64 on:
//     0   4  payload size, not 0
//     4   4  CRC-32C of: log id, segment number, offset (8 bytes each), frame bytes 0..<4 and 8..<16, payload
//     8   4  offset up to which the segment was durable when this frame was written
//    12   1  payload kind; 255 marks a void frame
//    13   3  zero
//    16   n  payload, then zeros up to a multiple of 8
//
// A size of 0 ends the frames of a segment; what follows is zero. The checksum covers the position, so bytes of
// another file, offset or log never pass as a frame.

/// A position in a log.
package struct LogPosition: Sendable, Hashable, Comparable {
    package var segment: UInt64
    package var offset: Int

    package init(segment: UInt64, offset: Int) {
        self.segment = segment
        self.offset = offset
    }

    package static func < (left: LogPosition, right: LogPosition) -> Bool {
        (left.segment, left.offset) < (right.segment, right.offset)
    }
}

/// The content of a frame.
package struct LogPayload: Sendable, Equatable {
    /// Chosen by the log's owner, neither 0 nor 255.
    package var kind: UInt8
    package var bytes: [UInt8]

    package init(kind: UInt8, bytes: [UInt8]) {
        self.kind = kind
        self.bytes = bytes
    }
}

/// A frame of the log; the bytes are valid only during the visit.
package struct LogFrame {
    package var position: LogPosition
    package var kind: UInt8
    package var payload: UnsafeRawBufferPointer
    /// Up to where its segment was durable when it was written.
    var durable: Int
}

enum SegmentHeader {
    static let byteCount = 64
    static let version: UInt32 = 1
    private static let magic = Array("UBIQLOG1".utf8)

    static func encode(logID: UInt64, segment: UInt64, segmentByteCount: Int, previousEnd: Int = 0) -> [UInt8] {
        var bytes = magic
        bytes.append(littleEndian: version)
        bytes.append(littleEndian: UInt32(byteCount))
        bytes.append(littleEndian: logID)
        bytes.append(littleEndian: segment)
        bytes.append(littleEndian: UInt64(segmentByteCount))
        bytes.append(littleEndian: UInt64(previousEnd))
        bytes.append(littleEndian: logID)
        bytes.append(contentsOf: [UInt8](repeating: 0, count: 60 - bytes.count))
        bytes.append(littleEndian: bytes.withUnsafeBytes { Checksum.of($0) })
        return bytes
    }

    struct Fields: Equatable {
        var logID: UInt64
        /// The size of the segment's file.
        var byteCount: Int
        /// Where the frames of the preceding segment end; 0 if unknown.
        var previousEnd: Int
    }

    /// The log ids that a damaged header may still hold.
    static func possibleLogIDs(in bytes: UnsafeRawBufferPointer) -> [UInt64] {
        [bytes.littleEndian(UInt64.self, at: 16), bytes.littleEndian(UInt64.self, at: 48)]
    }
}

extension SegmentHeader {
    /// The fields of the header of `segment`, which `file` starts with.
    static func read(
        _ file: any LogFile, segment: UInt64, path: String
    ) throws(LogError) -> Fields {
        func damage(_ detail: String) -> LogError {
            .damaged(LogDamage(path: path, offset: 0, detail: detail))
        }
        let header = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 8)
        defer { header.deallocate() }
        let count: Int
        do throws(FileError) { count = try file.read(into: header, at: 0) } catch {
            throw .storage(error)
        }
        guard count >= byteCount, header.prefix(8).elementsEqual(magic) else {
            throw damage("not a log segment")
        }
        let bytes = UnsafeRawBufferPointer(header)
        let whole = UnsafeRawBufferPointer(rebasing: bytes[0..<60])
        guard bytes.littleEndian(UInt32.self, at: 60) == Checksum.of(whole) else {
            throw damage("invalid header checksum")
        }
        let version = bytes.littleEndian(UInt32.self, at: 8)
        guard version == self.version else { throw .incompatible(path: path, version: version) }
        guard bytes.littleEndian(UInt64.self, at: 24) == segment else {
            throw damage("the header names another segment")
        }
        return Fields(
            logID: bytes.littleEndian(UInt64.self, at: 16),
            byteCount: Int(clamping: bytes.littleEndian(UInt64.self, at: 32)),
            previousEnd: Int(clamping: bytes.littleEndian(UInt64.self, at: 40)))
    }
}

package enum FrameFormat {
    static let headerByteCount = 16
    static let alignment = 8
    /// The kind of a void frame, which covers an unsynced gap. It is never visited.
    static let voidKind: UInt8 = 255

    package static func byteCount(payload: Int) -> Int {
        (headerByteCount + payload + alignment - 1) & ~(alignment - 1)
    }

    /// Appends the frame for the position `offset`.
    static func append(
        _ payload: LogPayload, to buffer: inout [UInt8], logID: UInt64, segment: UInt64, offset: Int, durable: Int
    ) {
        precondition(!payload.bytes.isEmpty && payload.kind != 0 && payload.kind != voidKind)
        let end = buffer.count + byteCount(payload: payload.bytes.count)
        payload.bytes.withUnsafeBytes { bytes in
            appendHeader(
                of: bytes, kind: payload.kind, to: &buffer, logID: logID, segment: segment,
                offset: offset, durable: durable)
        }
        buffer.append(contentsOf: payload.bytes)
        buffer.append(contentsOf: repeatElement(0, count: end - buffer.count))
    }

    /// Appends the header of a frame.
    static func appendHeader(
        of payload: UnsafeRawBufferPointer, kind: UInt8, to buffer: inout [UInt8], logID: UInt64,
        segment: UInt64, offset: Int, durable: Int
    ) {
        let length = UInt32(payload.count)
        let tail = UInt64(durable) | UInt64(kind) << 32
        let sum = checksum(logID: logID, segment: segment, offset: offset, length: length, tail: tail, payload: payload)
        buffer.append(littleEndian: length)
        buffer.append(littleEndian: sum)
        buffer.append(littleEndian: tail)
    }

    static func checksum(
        logID: UInt64, segment: UInt64, offset: Int, length: UInt32, tail: UInt64, payload: UnsafeRawBufferPointer
    ) -> UInt32 {
        var checksum = Checksum()
        checksum.update(logID)
        checksum.update(segment)
        checksum.update(UInt64(offset))
        withUnsafeBytes(of: length.littleEndian) { checksum.update($0) }
        checksum.update(tail)
        checksum.update(payload)
        return checksum.value
    }
}
