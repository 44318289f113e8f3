import KVStoreCore

/// The range of each kind of number that comes from the network, in JSON and in binary. A document with another one
/// does not decode, so arithmetic on what has been decoded does not overflow.
package enum WireNumber {
    /// Times in milliseconds since 1970: as far before as a stamp can be after.
    package static let milliseconds = -StoreStamp.greatestMilliseconds...StoreStamp.greatestMilliseconds
    /// Sequence numbers and horizons.
    package static let sequence: ClosedRange<UInt64> = 0...UInt64(Int64.max)
    /// Counts, sizes and limits.
    package static let count: ClosedRange<Int64> = 0...(1 << 53)
}

extension KeyedDecodingContainer {
    func decode<Number: FixedWidthInteger & Decodable>(
        in range: ClosedRange<Number>, forKey key: Key
    ) throws -> Number {
        try check(decode(Number.self, forKey: key), range, key)
    }

    func decodeIfPresent<Number: FixedWidthInteger & Decodable>(
        in range: ClosedRange<Number>, forKey key: Key
    ) throws -> Number? {
        try decodeIfPresent(Number.self, forKey: key).map { try check($0, range, key) }
    }

    /// A count, size or limit.
    func decodeCount(forKey key: Key) throws -> Int {
        Int(clamping: try decode(in: WireNumber.count, forKey: key))
    }

    private func check<Number: FixedWidthInteger>(
        _ number: Number, _ range: ClosedRange<Number>, _ key: Key
    ) throws -> Number {
        guard range.contains(number) else {
            throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "out of range")
        }
        return number
    }
}
