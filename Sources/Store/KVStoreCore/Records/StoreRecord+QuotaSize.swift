import Essentials

extension StoreRecord.Content {
    /// The bytes that count toward a quota: the length of data, the UTF-8 length of a string, and for anything else the
    /// length of its binary property list. So what an app measures before it sets a value (`data.count`,
    /// `text.utf8.count`) agrees with the store.
    package var quotaByteCount: Int {
        guard case .value(let data) = self else { return 0 }
        return data.withUnsafeBytes { Self.payloadByteCount($0) } ?? data.count
    }

    /// The length of the only object of a binary property list; nil unless that is data or a string.
    ///
    /// The format is `bplist00`, then a marker whose upper half is the type (4 data, 5 ASCII, 6 UTF-16 big-endian) and
    /// whose lower half is the count or, if 15, followed by the count as an integer object. The last 32 bytes are the
    /// trailer, with the number of objects at its byte 8 and the offset of the table that follows them at its byte 24.
    private static func payloadByteCount(_ bytes: UnsafeRawBufferPointer) -> Int? {
        let trailer = bytes.count - 32
        guard trailer > 9, number(bytes, at: 0) == 0x6270_6C69_7374_3030,
            number(bytes, at: trailer + 8) == 1
        else { return nil }
        var start = 9
        var count = Int(bytes[8] & 0x0F)
        if count == 15 {
            let width = 1 << Int(bytes[9] & 0x0F)
            guard bytes[9] >> 4 == 1, width <= 4, 10 + width < trailer else { return nil }
            start = 10 + width
            count = bytes[10..<start].reduce(0) { $0 << 8 | Int($1) }
        }
        switch bytes[8] >> 4 {
        case 4, 5: return number(bytes, at: trailer + 24) == UInt64(start + count) ? count : nil
        case 6:
            guard start + 2 * count < trailer,
                number(bytes, at: trailer + 24) == UInt64(start + 2 * count)
            else { return nil }
            var length = 0
            for unit in 0..<count {
                let value = UInt16(bytes[start + 2 * unit]) << 8 | UInt16(bytes[start + 2 * unit + 1])
                // Each half of a surrogate pair stands for two of its four bytes.
                length += value < 0x80 ? 1 : value < 0x800 || value & 0xF800 == 0xD800 ? 2 : 3
            }
            return length
        default: return nil
        }
    }

    private static func number(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
}
