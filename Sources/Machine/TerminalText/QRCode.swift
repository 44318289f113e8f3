/// A QR code (ISO/IEC 18004) of bytes, with error correction level L.
///
/// Always with mask 0: readers accept any, and the choice matters only for contents with large regular patterns, which
/// random text is not.
package struct QRCode: Sendable, Equatable {
    /// Modules of one side.
    package let size: Int
    private var modules: [Bool]
    /// The modules that carry no data.
    private var reserved: [Bool]

    /// By version from 1: bytes of error correction in each block, and blocks.
    private static let layouts = [
        (7, 1), (10, 1), (15, 1), (20, 1), (26, 1), (18, 2), (20, 2), (24, 2), (30, 2), (18, 4),
    ]

    /// Nil for more than 271 bytes of UTF-8.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard
            let version = (1...Self.layouts.count).first(where: { version in
                // A mode of 4 bits, the count and a terminator of up to 4 bits.
                bytes.count + (version < 10 ? 2 : 3) <= Self.dataByteCount(version)
            })
        else { return nil }
        size = 17 + 4 * version
        modules = [Bool](repeating: false, count: size * size)
        reserved = modules
        drawPatterns(version)
        draw(Self.codewords(bytes, version))
    }

    /// Whether the module is dark.
    package subscript(x: Int, y: Int) -> Bool {
        (0..<size).contains(x) && (0..<size).contains(y) && modules[y * size + x]
    }

    // MARK: - Codewords

    private static func byteCount(_ version: Int) -> Int {
        var bits = (16 * version + 128) * version + 64
        if version >= 2 {
            let alignments = version / 7 + 2
            bits -= (25 * alignments - 10) * alignments - 55
            if version >= 7 { bits -= 36 }
        }
        return bits / 8
    }

    private static func dataByteCount(_ version: Int) -> Int {
        let (errorByteCount, blockCount) = layouts[version - 1]
        return byteCount(version) - errorByteCount * blockCount
    }

    /// Data and error correction, interleaved from all blocks.
    private static func codewords(_ bytes: [UInt8], _ version: Int) -> [UInt8] {
        var bits: [Bool] = []
        func append(_ value: Int, _ count: Int) {
            for bit in stride(from: count - 1, through: 0, by: -1) {
                bits.append(value >> bit & 1 == 1)
            }
        }
        append(0b0100, 4)
        append(bytes.count, version < 10 ? 8 : 16)
        for byte in bytes { append(Int(byte), 8) }
        append(0, 4)
        var data = stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
        }
        let dataByteCount = dataByteCount(version)
        for index in 0..<dataByteCount - data.count { data.append(index % 2 == 0 ? 0xEC : 0x11) }

        let (errorByteCount, blockCount) = layouts[version - 1]
        let divisor = divisor(degree: errorByteCount)
        // The last blocks are one byte longer where the data does not divide evenly.
        let shortCount = blockCount - dataByteCount % blockCount
        var start = 0
        let blocks = (0..<blockCount).map { index in
            let end = start + dataByteCount / blockCount + (index < shortCount ? 0 : 1)
            defer { start = end }
            return Array(data[start..<end])
        }
        let errors = blocks.map { remainder($0, divisor) }
        let longest = blocks.map(\.count).max() ?? 0
        return (0..<longest).flatMap { index in
            blocks.compactMap { index < $0.count ? $0[index] : nil }
        } + (0..<errorByteCount).flatMap { index in errors.map { $0[index] } }
    }

    /// The product in the field of 256 elements that Reed-Solomon codes of QR use.
    private static func product(_ x: UInt8, _ y: UInt8) -> UInt8 {
        var z = 0
        for bit in stride(from: 7, through: 0, by: -1) {
            z = z << 1 ^ (z >> 7) * 0x11D
            z ^= Int(y >> UInt8(bit) & 1) * Int(x)
        }
        return UInt8(z)
    }

    private static func divisor(degree: Int) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: degree - 1) + [1]
        var root: UInt8 = 1
        for _ in 0..<degree {
            for index in result.indices {
                result[index] = product(result[index], root)
                if index + 1 < degree { result[index] ^= result[index + 1] }
            }
            root = product(root, 2)
        }
        return result
    }

    private static func remainder(_ data: [UInt8], _ divisor: [UInt8]) -> [UInt8] {
        data.reduce(into: [UInt8](repeating: 0, count: divisor.count)) { result, byte in
            let factor = byte ^ result.removeFirst()
            result.append(0)
            for index in divisor.indices { result[index] ^= product(divisor[index], factor) }
        }
    }

    // MARK: - Modules

    private mutating func reserve(_ x: Int, _ y: Int, _ isDark: Bool) {
        guard (0..<size).contains(x), (0..<size).contains(y) else { return }
        modules[y * size + x] = isDark
        reserved[y * size + x] = true
    }

    private mutating func drawPatterns(_ version: Int) {
        for index in 0..<size {
            reserve(6, index, index % 2 == 0)
            reserve(index, 6, index % 2 == 0)
        }
        for (x, y) in [(3, 3), (size - 4, 3), (3, size - 4)] {
            drawSquares(x, y, radius: 4) { $0 != 2 && $0 != 4 }
        }
        let positions = Self.alignmentPositions(version, size)
        for x in positions {
            for y in positions
            where (x, y) != (6, 6) && (x, y) != (6, size - 7) && (x, y) != (size - 7, 6) {
                drawSquares(x, y, radius: 2) { $0 != 1 }
            }
        }
        drawFormat()
        drawVersion(version)
    }

    private mutating func drawSquares(_ x: Int, _ y: Int, radius: Int, isDark: (Int) -> Bool) {
        for dy in -radius...radius {
            for dx in -radius...radius { reserve(x + dx, y + dy, isDark(max(abs(dx), abs(dy)))) }
        }
    }

    private static func alignmentPositions(_ version: Int, _ size: Int) -> [Int] {
        if version == 1 { return [] }
        let count = version / 7 + 2
        let step = (version * 4 + count * 2 + 1) / (count * 2 - 2) * 2
        return [6] + (0..<count - 1).map { size - 7 - $0 * step }
    }

    /// `value` and the remainder of its division by `polynomial`.
    private static func protected(_ value: Int, _ count: Int, _ polynomial: Int) -> Int {
        var rest = value
        for _ in 0..<count { rest = rest << 1 ^ (rest >> (count - 1)) * polynomial }
        return value << count | rest
    }

    /// Level L and mask 0, twice.
    private mutating func drawFormat() {
        let bits = Self.protected(0b01_000, 10, 0x537) ^ 0x5412
        for index in 0..<15 {
            let isDark = bits >> index & 1 == 1
            switch index {
            case 0...5: reserve(8, index, isDark)
            case 6, 7: reserve(8, index + 1, isDark)
            case 8: reserve(7, 8, isDark)
            default: reserve(14 - index, 8, isDark)
            }
            if index < 8 {
                reserve(size - 1 - index, 8, isDark)
            } else {
                reserve(8, size - 15 + index, isDark)
            }
        }
        reserve(8, size - 8, true)
    }

    private mutating func drawVersion(_ version: Int) {
        guard version >= 7 else { return }
        let bits = Self.protected(version, 12, 0x1F25)
        for index in 0..<18 {
            let isDark = bits >> index & 1 == 1
            reserve(size - 11 + index % 3, index / 3, isDark)
            reserve(index / 3, size - 11 + index % 3, isDark)
        }
    }

    /// In pairs of columns from the right, up and down by turns, masked.
    private mutating func draw(_ codewords: [UInt8]) {
        var index = 0
        for (pair, right) in (stride(from: size - 1, to: 6, by: -2).map { $0 } + [5, 3, 1]).enumerated() {
            for step in 0..<size {
                let y = pair % 2 == 0 ? size - 1 - step : step
                for x in [right, right - 1] where !reserved[y * size + x] {
                    let isSet =
                        index < codewords.count * 8
                        && codewords[index / 8] >> (7 - index % 8) & 1 == 1
                    modules[y * size + x] = isSet != ((x + y) % 2 == 0)
                    index += 1
                }
            }
        }
    }

    // MARK: - Text

    /// The width of `text`, with its margin.
    package var columnCount: Int { size + 8 }

    /// Two rows of modules in one of text, black on white, with the margin that readers need.
    package var text: String {
        stride(from: -4, to: size + 4, by: 2).map { y in
            "\u{1B}[30;107m"
                + (-4..<size + 4).map { x in
                    switch (self[x, y], self[x, y + 1]) {
                    case (true, true): "█"
                    case (true, false): "▀"
                    case (false, true): "▄"
                    case (false, false): " "
                    }
                }.joined() + "\u{1B}[0m"
        }.joined(separator: "\n")
    }
}
