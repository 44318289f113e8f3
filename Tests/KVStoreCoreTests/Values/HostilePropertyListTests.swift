import Foundation
import Testing

@testable import KVStoreCore

@Suite("Hostile property lists")
struct HostilePropertyListTests {
    /// Objects one behind the other, then the table and the trailer.
    private func file(
        _ objects: [[UInt8]], offsetSize: Int = 2, referenceSize: Int = 1, top: Int = 0,
        offset: (Int) -> UInt64? = { _ in nil }, count: UInt64? = nil, table: UInt64? = nil
    ) -> Data {
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(bytes.count)
            bytes += object
        }
        let place = bytes.count
        func append(_ value: UInt64, _ size: Int) {
            for shift in stride(from: (size - 1) * 8, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
            }
        }
        for (index, value) in offsets.enumerated() {
            append(offset(index) ?? UInt64(value), offsetSize)
        }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
        append(count ?? UInt64(objects.count), 8)
        append(UInt64(top), 8)
        append(table ?? UInt64(place), 8)
        return Data(bytes)
    }

    private func refused(_ data: Data, _ comment: Comment = "") {
        #expect(throws: PropertyListError.self, comment) { try PropertyListValue(encoded: data) }
    }

    private var sample: Data {
        PropertyListValue.dictionary([
            "array": .array((0..<20).map { .integer($0 * 1_000) }), "text": .string("é😀"),
            "data": .data(Data(repeating: 9, count: 30)), "date": .date(Date(timeIntervalSinceReferenceDate: 1)),
            "yes": .bool(true), "inner": .dictionary(["double": .double(1.5), "empty": .array([])]),
        ]).encoded()
    }

    @Test("every truncation throws")
    func truncations() {
        let whole = sample
        for count in 0..<whole.count { refused(whole.prefix(count), "\(count) bytes") }
    }

    @Test("every flipped byte throws or yields a value, and never traps")
    func flips() {
        let whole = sample
        var readable = 0
        for offset in whole.indices {
            for mask in [UInt8(0x01), 0x10, 0x80, 0xFF] {
                var damaged = whole
                damaged[offset] ^= mask
                if (try? PropertyListValue(encoded: damaged)) != nil { readable += 1 }
            }
        }
        #expect(readable > 0)
    }

    @Test("random bytes between a valid header and trailer never trap", arguments: 1...20)
    func noise(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<500 {
            let objects = (0..<Int.random(in: 1...12, using: &random)).map { _ in
                (0..<Int.random(in: 1...10, using: &random)).map { _ in
                    [0x0F, 0x13, 0x5F, 0x6F, 0xAF, 0xDF, 0xA2, 0xD1, 0, 1, 2, 3, 0xFF]
                        .randomElement(using: &random)! as UInt8
                }
            }
            _ = try? PropertyListValue(
                encoded: file(
                    objects, offsetSize: Int.random(in: 1...8, using: &random),
                    referenceSize: Int.random(in: 1...8, using: &random)))
        }
    }

    @Test("fields of 63 and more bits throw")
    func hugeNumbers() {
        let numbers: [UInt64] = [.max, 1 << 63, (1 << 63) - 1, 1 << 62, 1 << 32]
        for huge in numbers {
            refused(file([[0x09]], offsetSize: 8, offset: { _ in huge }), "offset \(huge)")
            refused(file([[0x09]], count: huge), "count \(huge)")
            refused(file([[0x09]], table: huge), "table \(huge)")
            let bytes = (0..<8).map { UInt8(truncatingIfNeeded: huge >> UInt64(56 - 8 * $0)) }
            for kind: UInt8 in [0x4F, 0x5F, 0x6F, 0xAF, 0xDF] {
                refused(file([[kind, 0x13] + bytes]), "length \(huge) of \(kind)")
            }
            refused(file([[0xA1] + bytes], referenceSize: 8), "reference \(huge)")
        }
        refused(file([[0x09]], top: 1))
        refused(file([], count: 0))
        refused(file([[0x09]], offsetSize: 0))
        refused(file([[0x09]], referenceSize: 0))
        refused(file([[0x09]], referenceSize: 9))
    }

    @Test("arrays that contain themselves throw")
    func cycles() {
        refused(file([[0xA1, 0]]))
        refused(file([[0xA1, 1], [0xA1, 0]]))
        refused(file([[0xD1, 1, 0], [0x51, 0x61]]))
        refused(file([[0xAF, 0x10, 200] + [UInt8](repeating: 0, count: 200)]))
    }

    @Test("a few hundred bytes that expand to billions of objects throw after bounded work")
    func bombs() {
        for width in [2, 10, 14] {
            let levels = 100
            let objects: [[UInt8]] =
                (1..<levels).map { level in
                    [0xA0 | UInt8(width)] + [UInt8](repeating: UInt8(level), count: width)
                } + [[0xA0]]
            refused(file(objects), "width \(width)")
        }
        // One long text at a place that very many objects share.
        let text = [0x4F, 0x12, 0, 4, 0, 0] + [UInt8](repeating: 0x61, count: 262_144)
        let holders: [UInt8] = [0xAF, 0x11, 0x27, 0x10] + (1...10_000).flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        refused(
            file(
                [holders] + [text] + Array(repeating: [], count: 9_999), offsetSize: 4,
                referenceSize: 2, offset: { $0 > 0 ? UInt64(8 + holders.count) : nil }))
    }

    @Test("128 levels of nesting are read, 129 throw")
    func depth() throws {
        func nested(_ levels: Int) -> Data {
            file((1...levels).map { [0xA1, UInt8($0)] } + [[0x09]])
        }
        #expect(throws: Never.self) { try PropertyListValue(encoded: nested(128)) }
        refused(nested(129))
        refused(nested(250))
    }

    @Test("objects of unsupported types throw")
    func otherKinds() {
        for object: [UInt8] in [
            [0x00], [0x0F], [0x80, 1], [0xC1, 0], [0x22], [0x21, 0, 0], [0x30], [0x15],
            [0x14] + [UInt8](repeating: 0xFF, count: 16), [0x33, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0],
            [0x33, 0x7F, 0xF0, 0, 0, 0, 0, 0, 0], [0x51, 0x80], [0x62, 0], [0xD1, 0, 0],
        ] { refused(file([object]), "\(object)") }
    }

    @Test("number encodings of other writers are read")
    func otherForms() throws {
        #expect(try PropertyListValue(encoded: file([[0x22, 0x3F, 0xC0, 0, 0]])) == .double(1.5))
        let wide: [UInt8] = [0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0x7F] + [UInt8](repeating: 255, count: 7)
        #expect(try PropertyListValue(encoded: file([wide])) == .integer(.max))
        let wider: [UInt8] = [0x14] + [UInt8](repeating: 0, count: 8) + [UInt8](repeating: 255, count: 8)
        #expect(try PropertyListValue(encoded: file([wider])) == .unsigned(.max))
        // A lone half of a surrogate pair is replaced.
        #expect(try PropertyListValue(encoded: file([[0x61, 0xD8, 0x00]])) == .string("\u{FFFD}"))
    }
}
