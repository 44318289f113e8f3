import CShims

/// CRC-32C (Castagnoli, reflected, initial value and final xor all ones), eight bytes at a time: by the processor's
/// instructions, otherwise by tables.
///
/// Polynomial 0x1EDC6F41 (RFC 3720, appendix B.4).
struct Checksum: Sendable {
    private var state: UInt32 = .max

    var value: UInt32 { ~state }

    private static let hasInstructions = checksum_is_available()

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        if Self.hasInstructions {
            state = checksum_update(state, bytes.baseAddress, bytes.count)
        } else {
            updateByTables(bytes)
        }
    }

    mutating func updateByTables(_ bytes: UnsafeRawBufferPointer) {
        state = Self.tables.withUnsafeBufferPointer { tables in
            var crc = state
            var index = 0
            let wordEnd = bytes.count & ~7
            while index < wordEnd {
                let word =
                    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) ^ UInt64(crc)
                crc =
                    tables[1_792 + Int(word & 0xFF)] ^ tables[1_536 + Int(word >> 8 & 0xFF)]
                    ^ tables[1_280 + Int(word >> 16 & 0xFF)] ^ tables[1_024 + Int(word >> 24 & 0xFF)]
                    ^ tables[768 + Int(word >> 32 & 0xFF)] ^ tables[512 + Int(word >> 40 & 0xFF)]
                    ^ tables[256 + Int(word >> 48 & 0xFF)] ^ tables[Int(word >> 56)]
                index += 8
            }
            while index < bytes.count {
                crc = tables[Int(UInt8(truncatingIfNeeded: crc) ^ bytes[index])] ^ crc >> 8
                index += 1
            }
            return crc
        }
    }

    mutating func update(_ value: UInt64) {
        withUnsafeBytes(of: value.littleEndian) { update($0) }
    }

    static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        var checksum = Checksum()
        checksum.update(bytes)
        return checksum.value
    }

    /// Eight tables of 256: table k advances a byte by k further zero bytes.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 * 256)
        for byte in 0..<256 {
            var crc = UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0x82F6_3B78 : crc >> 1 }
            tables[byte] = crc
        }
        for index in 256..<tables.count {
            let previous = tables[index - 256]
            tables[index] = tables[Int(previous & 0xFF)] ^ previous >> 8
        }
        return tables
    }()
}
