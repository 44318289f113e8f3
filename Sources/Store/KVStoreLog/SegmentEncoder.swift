/// Encodes a segment that is a file of its own, piece by piece.
package struct SegmentEncoder {
    static let segment: UInt64 = 1
    package static let headerByteCount = SegmentHeader.byteCount

    private let logID: UInt64
    private let promisedByteCount: Int
    private var offset = SegmentHeader.byteCount

    /// Appends the header to `buffer`.
    ///
    /// - Parameter byteCount: the size of the file that the header and all frames make.
    package init(logID: UInt64, byteCount: Int, into buffer: inout [UInt8]) {
        self.logID = logID
        promisedByteCount = byteCount
        buffer += SegmentHeader.encode(logID: logID, segment: Self.segment, segmentByteCount: byteCount)
    }

    /// Whether the header and the frames have the size that the header says.
    package var isComplete: Bool { offset == promisedByteCount }

    /// Appends the next frame to `buffer`.
    package mutating func append(_ payload: LogPayload, to buffer: inout [UInt8]) {
        FrameFormat.append(payload, to: &buffer, logID: logID, segment: Self.segment, offset: offset, durable: 0)
        offset += FrameFormat.byteCount(payload: payload.bytes.count)
    }
}
