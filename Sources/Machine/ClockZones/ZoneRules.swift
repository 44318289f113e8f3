/// When a zone's offset from UTC has changed and will change: what a file of the time zone database says [RFC 9636].
///
///     header    "TZif", version, 15 unused bytes, and six counts of 4 bytes, big-endian:
///               indicators of UT and of standard time, leap seconds, times, types, characters
///     block     times (4 bytes each, in the second block 8); the type that each begins, a byte;
///               types (offset 4 bytes, daylight time 1, place of the abbreviation 1); characters; leap seconds
///               (a time and 4 bytes); indicators, a byte each
///     file      header and block of version 1; from version 2 on a second header with its block, and between
///               line feeds the rule for all later times
///
/// Bytes after that are no part of it.
package struct ZoneRules: Sendable, Equatable {
    /// Ascending seconds since 1970.
    private var times: [Int] = []
    /// Seconds east of UTC, from each of the times on.
    private var offsets: [Int] = []
    /// Before the first time.
    private var firstOffset = 0
    /// From the last time on; without one the last offset stays.
    private var rule: DaylightRule?

    /// Seconds east of UTC at a time in seconds since 1970.
    func offset(at seconds: Int) -> Int {
        // The last time that is not later.
        var (low, high) = (0, times.count)
        while low < high {
            let middle = (low + high) / 2
            if times[middle] <= seconds { low = middle + 1 } else { high = middle }
        }
        if low == times.count, let rule { return rule.offset(at: seconds) }
        return low == 0 ? firstOffset : offsets[low - 1]
    }

    init(file: [UInt8]) throws(InvalidZone) {
        var reader = Reader(bytes: file)
        var header = try reader.header()
        guard header.version > 0 else {
            try read(&reader, header, timeByteCount: 4)
            return
        }
        _ = try reader.take(header.blockByteCount(timeByteCount: 4))
        let version = header.version
        header = try reader.header()
        guard header.version == version else { throw InvalidZone("it has two versions") }
        try read(&reader, header, timeByteCount: 8)
        let line = try reader.line()
        rule = line.isEmpty ? nil : try DaylightRule(line)
    }

    private mutating func read(_ reader: inout Reader, _ header: Header, timeByteCount: Int) throws(InvalidZone) {
        guard header.leapCount == 0 else { throw InvalidZone("it counts leap seconds") }
        guard (1...256).contains(header.typeCount) else { throw InvalidZone("it has no type") }
        for _ in 0..<header.timeCount {
            let time = Int(try reader.number(timeByteCount))
            if let last = times.last, last >= time { throw InvalidZone("its times are not in order") }
            times.append(time)
        }
        let types = try reader.take(header.timeCount)
        var typeOffsets: [Int] = []
        for _ in 0..<header.typeCount {
            let offset = Int(try reader.number(4))
            guard Self.offsets.contains(offset) else { throw InvalidZone("it is more than a day from UTC") }
            typeOffsets.append(offset)
            _ = try reader.take(2)
        }
        _ = try reader.take(header.charCount + header.indicatorCount)
        for type in types {
            guard Int(type) < typeOffsets.count else { throw InvalidZone("a time has no type") }
            offsets.append(typeOffsets[Int(type)])
        }
        firstOffset = typeOffsets[0]
    }

    /// What the format allows.
    private static let offsets = -89_999...93_599

    private struct Header {
        var version: UInt8
        var indicatorCount: Int
        var leapCount: Int
        var timeCount: Int
        var typeCount: Int
        var charCount: Int

        func blockByteCount(timeByteCount: Int) -> Int {
            timeCount * (timeByteCount + 1) + typeCount * 6 + charCount + leapCount * (timeByteCount + 4)
                + indicatorCount
        }
    }

    private struct Reader {
        let bytes: [UInt8]
        private var position = 0

        init(bytes: [UInt8]) { self.bytes = bytes }

        mutating func take(_ count: Int) throws(InvalidZone) -> ArraySlice<UInt8> {
            guard count <= bytes.count - position else { throw InvalidZone("it ends early") }
            defer { position += count }
            return bytes[position..<position + count]
        }

        /// A signed number.
        mutating func number(_ byteCount: Int) throws(InvalidZone) -> Int64 {
            let bits = try take(byteCount).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return byteCount == 4 ? Int64(Int32(truncatingIfNeeded: bits)) : Int64(bitPattern: bits)
        }

        mutating func header() throws(InvalidZone) -> Header {
            guard try take(4).elementsEqual("TZif".utf8) else { throw InvalidZone("it does not begin with TZif") }
            let version = try take(16).first ?? 0
            var counts: [Int] = []
            for _ in 0..<6 {
                let count = Int(try number(4))
                guard (0...bytes.count).contains(count) else { throw InvalidZone("it ends early") }
                counts.append(count)
            }
            return Header(
                version: version, indicatorCount: counts[0] + counts[1], leapCount: counts[2], timeCount: counts[3],
                typeCount: counts[4], charCount: counts[5])
        }

        /// What is between two line feeds.
        mutating func line() throws(InvalidZone) -> ArraySlice<UInt8> {
            guard try take(1).first == 0x0A, let end = bytes[position...].firstIndex(of: 0x0A) else {
                throw InvalidZone("it has no rule for later times")
            }
            return bytes[position..<end]
        }
    }
}

/// A file that is no usable file of the time zone database.
struct InvalidZone: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}
