import Foundation

/// Zstandard frames of uncompressed and of run-length blocks [RFC 8878], for tests without a compressor.
enum ZstandardFrame {
    static let blockByteCount = 131_072

    /// - Parameter windowLog: of the window that a reader must keep, from 10 to 41.
    static func header(windowLog: UInt8 = 17) -> Data {
        Data([0x28, 0xB5, 0x2F, 0xFD, 0, (windowLog - 10) << 3])
    }

    static func raw(_ content: Data, isLast: Bool) -> Data {
        block(type: 0, byteCount: content.count, isLast) + content
    }

    /// Four bytes that stand for `byteCount` equal ones.
    static func run(of byte: UInt8, byteCount: Int = blockByteCount, isLast: Bool = false) -> Data {
        block(type: 1, byteCount: byteCount, isLast) + [byte]
    }

    /// What no reader accepts.
    static let reservedBlock = block(type: 3, byteCount: 1, true)

    /// A complete file.
    static func file(_ content: Data) -> Data {
        let starts = Array(stride(from: 0, to: content.count, by: blockByteCount))
        return starts.reduce(header()) { file, start in
            let block = content.dropFirst(start).prefix(blockByteCount)
            return file + raw(Data(block), isLast: start == starts.last)
        }
    }

    private static func block(type: Int, byteCount: Int, _ isLast: Bool) -> Data {
        let bits = byteCount << 3 | type << 1 | (isLast ? 1 : 0)
        return Data([bits, bits >> 8, bits >> 16].map { UInt8(truncatingIfNeeded: $0) })
    }
}
