import Foundation
import Testing

@testable import KVStoreCore

@Suite("Encoding of property lists")
struct PropertyListBytesTests {
    private func foundation(_ data: Data) throws -> PropertyListValue? {
        PropertyListValue(object: try PropertyListSerialization.propertyList(from: data, options: [], format: nil))
    }

    @Test("generated values round-trip through this coder and through Foundation's", arguments: 1...100)
    func bothWays(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let value = PropertyListValue.generated(using: &random)
        let bytes = value.encoded()
        #expect(try PropertyListValue(encoded: bytes) == value, "seed \(seed)")
        #expect(try PropertyListValue(encoded: bytes).encoded() == bytes, "seed \(seed)")
        #expect(try foundation(bytes) == value, "seed \(seed)")
        let theirs = try PropertyListSerialization.data(fromPropertyList: value.object, format: .binary, options: 0)
        #expect(try PropertyListValue(encoded: theirs) == value, "seed \(seed)")
    }

    static let edges: [PropertyListValue] = [
        .bool(true), .bool(false), .integer(.max), .integer(.min), .integer(-1), .integer(0),
        .integer(255), .integer(256), .integer(65_536), .integer(4_294_967_296),
        .unsigned(.max), .unsigned(1 << 63),
        .double(.infinity), .double(-.infinity), .double(0.1), .string(""), .string("ascii"),
        .string("é日本😀\u{10FFFF}"), .string(String(repeating: "x", count: 70_000)),
        .string(String(repeating: "😀", count: 40_000)), .data(Data()),
        .data(Data(repeating: 7, count: 300_000)), .array([]), .dictionary([:]),
        .array(Array(repeating: .array([]), count: 14)),
        .array(Array(repeating: .array([]), count: 15)),
        .array(Array(repeating: .array([]), count: 16)),
        .array((0..<300).map { .integer($0) }), .array((0..<70_000).map { .integer($0) }),
        .dictionary(Dictionary(uniqueKeysWithValues: (0..<300).map { ("key \($0)", .integer($0)) })),
        .date(Date(timeIntervalSinceReferenceDate: 0)),
        .date(Date(timeIntervalSince1970: -62_135_596_800.25)),
    ]

    @Test("values at the limits of the format round-trip", arguments: edges.indices)
    func edge(index: Int) throws {
        let value = Self.edges[index]
        let bytes = value.encoded()
        #expect(try PropertyListValue(encoded: bytes) == value)
        #expect(try foundation(bytes) == value)
    }

    @Test("negative zero and the bits of a NaN are preserved")
    func bitsOfDoubles() throws {
        for double in [-0.0, 0.0, Double.nan, Double(bitPattern: 0xFFF8_0000_0000_1234)] {
            let bytes = PropertyListValue.double(double).encoded()
            guard case .double(let back) = try PropertyListValue(encoded: bytes) else {
                Issue.record("not a double")
                return
            }
            #expect(back.bitPattern == double.bitPattern)
        }
        let mixed = PropertyListValue.array([.double(0.0), .double(-0.0), .double(0.0)])
        guard case .array(let parts) = try PropertyListValue(encoded: mixed.encoded()) else {
            return
        }
        let signs = parts.map { part -> FloatingPointSign? in
            guard case .double(let double) = part else { return nil }
            return double.sign
        }
        #expect(signs == [.plus, .minus, .plus])
    }

    @Test("canonically equivalent texts keep their own code points")
    func composedLetters() throws {
        let composed = "caf\u{E9}"
        let decomposed = "cafe\u{301}"
        #expect(composed == decomposed)
        let bytes = PropertyListValue.array([.string(composed), .string(decomposed)]).encoded()
        guard case .array(let parts) = try PropertyListValue(encoded: bytes) else { return }
        let texts = parts.compactMap(\.stringValue).map { Array($0.unicodeScalars) }
        #expect(texts == [Array(composed.unicodeScalars), Array(decomposed.unicodeScalars)])
    }

    @Test("equal values have equal bytes, whatever the order in which their dictionaries were built", arguments: 1...50)
    func determinism(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let pairs = (0..<40).map { index in
            ("\(index)" + PropertyListValue.text(using: &random), PropertyListValue.integer(index))
        }
        let forward = PropertyListValue.dictionary(Dictionary(uniqueKeysWithValues: pairs))
        var other: [String: PropertyListValue] = [:]
        other.reserveCapacity(500)
        for (key, value) in pairs.shuffled(using: &random) { other[key] = value }
        #expect(forward.encoded() == PropertyListValue.dictionary(other).encoded())
    }

    @Test("a small dictionary encodes to the bytes of the format")
    func knownBytes() {
        let value = PropertyListValue.dictionary(["b": .integer(1), "a": .bool(true)])
        let expected: [UInt8] =
            Array("bplist00".utf8) + [0xD2, 1, 2, 3, 4, 0x51, 0x61, 0x51, 0x62, 0x09, 0x10, 1]
            + [8, 13, 15, 17, 18] + [0, 0, 0, 0, 0, 0, 1, 1]
            + [0, 0, 0, 0, 0, 0, 0, 5] + [0, 0, 0, 0, 0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, 20]
        #expect(Array(value.encoded()) == expected)
    }

    @Test("a value that repeats a long text thousands of times round-trips")
    func repeatedText() throws {
        let text = PropertyListValue.string(String(repeating: "long ", count: 4_000))
        let data = PropertyListValue.data(Data(repeating: 1, count: 20_000))
        let value = PropertyListValue.array(Array(repeating: text, count: 5_000) + [data, data])
        let bytes = value.encoded()
        #expect(bytes.count < 100_000)
        #expect(try PropertyListValue(encoded: bytes) == value)
    }

    @Test("as many objects as the quota allows round-trip")
    func manyObjects() throws {
        let value = PropertyListValue.array(Array(repeating: .bool(true), count: 1_048_500))
        let bytes = value.encoded()
        #expect(bytes.count <= 1_048_576)
        #expect(try PropertyListValue(encoded: bytes) == value)
    }
}
