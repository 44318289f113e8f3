import Foundation

@testable import KVStoreCore

extension PropertyListValue {
    /// A value of any kind and shape, at most `depth` containers deep.
    static func generated(depth: Int = 4, using random: inout SplitMix64) -> PropertyListValue {
        switch Int.random(in: -1..<(depth > 0 ? 8 : 6), using: &random) {
        case -1: .unsigned(UInt64.random(in: (1 << 63)...(.max), using: &random))
        case 0: .bool(Bool.random(using: &random))
        case 1: .integer(integer(using: &random))
        case 2: .double(double(using: &random))
        case 3: .string(text(using: &random))
        case 4: .date(Date(timeIntervalSinceReferenceDate: Double.random(in: -1e10...1e10, using: &random)))
        case 5:
            .data(
                Data(
                    (0..<size(using: &random)).map { _ in UInt8.random(in: 0...255, using: &random)
                    }
                ))
        case 6: .array((0..<size(using: &random)).map { _ in generated(depth: depth - 1, using: &random) })
        default:
            .dictionary(
                Dictionary(
                    (0..<size(using: &random)).map { _ in
                        (text(using: &random), generated(depth: depth - 1, using: &random))
                    }, uniquingKeysWith: { first, _ in first }))
        }
    }

    /// Often around 15, where a length needs a number of its own.
    private static func size(using random: inout SplitMix64) -> Int {
        [0, 1, 2, 3, 13, 14, 15, 16, 17].randomElement(using: &random)!
    }

    private static func integer(using random: inout SplitMix64) -> Int64 {
        let edges: [Int64] = [
            0, 1, -1, 127, 128, 255, 256, 32_767, 65_535, 65_536, -128, 4_294_967_295,
            4_294_967_296, .max, .min, .max - 1, .min + 1,
        ]
        return Bool.random(using: &random)
            ? edges.randomElement(using: &random)!
            : Int64(bitPattern: random.next()) >> Int64.random(in: 0...63, using: &random)
    }

    private static func double(using random: inout SplitMix64) -> Double {
        let edges: [Double] = [
            0, -0.0, 1, -1, 0.1, .infinity, -.infinity, .greatestFiniteMagnitude,
            .leastNonzeroMagnitude, 9_007_199_254_740_992,
        ]
        if Bool.random(using: &random) { return edges.randomElement(using: &random)! }
        let any = Double(bitPattern: random.next())
        return any.isNaN ? 7.5 : any
    }

    static func text(using random: inout SplitMix64) -> String {
        let pieces = [
            "a", "Z", "0", " ", "\n", "\u{0}", "\u{7F}", "\u{80}", "é", "ß", "Ω", "日本", "\u{FFFD}",
            "\u{FFFF}", "😀", "👩‍👩‍👧", "\u{10FFFF}", "\u{200F}",
        ]
        return (0..<size(using: &random)).map { _ in
            pieces[Bool.random(using: &random) ? 0 : Int.random(in: 0..<pieces.count, using: &random)]
        }.joined()
    }
}
