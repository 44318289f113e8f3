import Foundation
import StoreTestSupport
import Testing

@testable import UsagePusher

@Suite("Reading JSON front to back")
struct JSONCursorTests {
    /// Whatever a text contains, as JSONSerialization would have it, read by the cursor.
    private static func value(_ cursor: inout JSONCursor, _ bytes: UnsafeRawBufferPointer) -> Any? {
        var copy = cursor
        let raw = copy.value()
        switch raw.first {
        case UInt8(ascii: "{"):
            guard cursor.enterObject() else { return nil }
            var object: [String: Any] = [:]
            while let key = cursor.nextKey() {
                object[key.string ?? "?"] = value(&cursor, bytes)
            }
            return object
        case UInt8(ascii: "["):
            guard cursor.enterArray() else { return nil }
            var list: [Any] = []
            while cursor.nextElement() { list.append(value(&cursor, bytes) ?? NSNull()) }
            return list
        case UInt8(ascii: "\""): return cursor.text()?.string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return cursor.flag()
        case UInt8(ascii: "n"):
            cursor.skip()
            return NSNull()
        default: return cursor.number()
        }
    }

    private static func written(_ value: Any?) -> String {
        switch value {
        case let object as [String: Any]:
            "{ "
                + object.sorted { $0.key < $1.key }.map { "\(quoted($0.key)) :\(written($0.value))" }
                .joined(separator: " ,") + "}"
        case let list as [Any]: "[" + list.map { written($0) }.joined(separator: ", ") + " ]"
        case let text as String: quoted(text)
        case let flag as Bool: "\(flag)"
        case let number as Double: "\(number)"
        default: "null"
        }
    }

    private static func quoted(_ text: String) -> String {
        String(decoding: (try? JSONEncoder().encode(text)) ?? Data(), as: UTF8.self)
    }

    private static func random(_ random: inout SeededGenerator, depth: Int) -> Any {
        let texts = [
            "", "a", "\"", "\\", "a\\\"b", "{}[],:", "é\u{1F600}", String(repeating: "x", count: 90),
        ]
        switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &random) {
        case 0: return NSNull()
        case 1: return Bool.random(using: &random)
        case 2: return Double(Int.random(in: -1_000...1_000_000_000, using: &random))
        case 3: return Double.random(in: -1e300...1e300, using: &random)
        case 4, 5: return texts.randomElement(using: &random)!
        case 6:
            return (0..<Int.random(in: 0..<4, using: &random)).map { _ in
                Self.random(&random, depth: depth - 1)
            }
        default:
            var object: [String: Any] = [:]
            for _ in 0..<Int.random(in: 0..<5, using: &random) {
                object[texts.randomElement(using: &random)!] = Self.random(&random, depth: depth - 1)
            }
            return object
        }
    }

    @Test("what was written is read, whatever it is", arguments: 0..<300)
    func roundTrip(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let value = Self.random(&random, depth: 4)
        let text = Array(Self.written(value).utf8)
        text.withUnsafeBytes { bytes in
            var cursor = JSONCursor(bytes)
            let read = Self.value(&cursor, bytes)
            #expect(Self.written(read) == Self.written(value))
            #expect(!cursor.isFailed)
        }
    }

    @Test("a text that was cut or changed anywhere is read to its end without a crash", arguments: 0..<60)
    func damage(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let text = Array(Self.written(Self.random(&random, depth: 4)).utf8)
        for cut in 0...text.count {
            var bytes = Array(text[..<cut])
            if !bytes.isEmpty, Bool.random(using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                bytes[place] = "{}[]\",:\\0 \0".utf8.randomElement(using: &random)!
            }
            bytes.withUnsafeBytes { bytes in
                var cursor = JSONCursor(bytes)
                _ = Self.value(&cursor, bytes)
            }
        }
    }

    @Test("a million brackets cost no stack")
    func depth() {
        let text = Array(repeating: UInt8(ascii: "["), count: 1_000_000)
        text.withUnsafeBytes { bytes in
            var cursor = JSONCursor(bytes)
            cursor.skip()
            #expect(cursor.isFailed)
        }
    }

    @Test(
        "counts are whole numbers from 0 on",
        arguments: [
            ("12", 12), ("0", 0), ("12.0", 12), ("\"12\"", 12), ("1e3", 1_000), ("-1", nil),
            ("1e300", nil), ("99999999999999999999999999", nil), ("\"x\"", nil), ("null", nil),
            ("true", nil), ("[1]", nil), ("{}", nil), ("NaN", nil),
        ] as [(String, Int?)])
    func counts(text: String, count: Int?) {
        Array("[\(text), 7]".utf8).withUnsafeBytes { bytes in
            var cursor = JSONCursor(bytes)
            guard cursor.enterArray(), cursor.nextElement() else {
                Issue.record("no list")
                return
            }
            let first = cursor.count()
            let hasSecond = cursor.nextElement()
            let second = cursor.count()
            #expect(first == count)
            #expect(hasSecond && second == 7)
        }
    }

    @Test(
        "times are read in every form that tools write",
        arguments: [
            ("2026-09-18T12:00:00Z", 1_789_732_800_000), ("2026-09-18T12:00:00.5Z", 1_789_732_800_500),
            ("2026-09-18T12:00:00.123456Z", 1_789_732_800_123), ("2026-09-18T14:00:00+02:00", 1_789_732_800_000),
            ("2026-09-18T05:30:00-0630", 1_789_732_800_000), ("2024-02-29T00:00:00Z", 1_709_164_800_000),
            ("2000-03-01T00:00:00Z", 951_868_800_000), ("2026-02-28T00:00:00Z", 1_772_236_800_000),
            ("2026-02-31T00:00:00Z", nil), ("2025-02-29T00:00:00Z", nil), ("2026-04-31T00:00:00Z", nil),
            ("2026-09-18T12:00:00", nil), ("2026-13-18T12:00:00Z", nil), ("9999-01-01T00:00:00Z", nil),
            ("1969-12-31T23:59:59Z", nil), ("", nil), ("2026-09-18", nil), ("2026-09-18T12:00:00.Z0", nil),
        ] as [(String, Int64?)])
    func times(text: String, time: Int64?) {
        Array("\"\(text)\"".utf8).withUnsafeBytes { bytes in
            var cursor = JSONCursor(bytes)
            let read = cursor.milliseconds()
            #expect(read == time)
        }
    }

    @Test("lines are the same however the text arrives", arguments: 0..<50)
    func lines(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let text =
            (0..<30).map { _ in
                String(repeating: "x", count: Int.random(in: 0..<90, using: &random)) + "\n"
            }.joined() + "rest"
        let limit = 64
        let expected = text.split(separator: "\n", omittingEmptySubsequences: true).dropLast()
            .filter { $0.count <= limit }.map(String.init)
        let buffer = LineBuffer(byteCount: 16, lineByteCount: limit)
        buffer.begin()
        var lines: [String] = []
        func found(_ line: UnsafeRawBufferPointer, at offset: Int64) {
            lines.append(String(decoding: line, as: UTF8.self))
            #expect(Array(line) == Array(Array(text.utf8)[Int(offset)...].prefix(line.count)))
        }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let free = buffer.free
            let piece = rest.prefix(min(free.count, Int.random(in: 1..<20, using: &random)))
            rest = rest.dropFirst(piece.count)
            if seed.isMultiple(of: 2) {
                free.copyBytes(from: piece)
                _ = buffer.add(piece.count) { found($0, at: $1) }
            } else {
                piece.withUnsafeBytes { bytes in _ = buffer.add(bytes) { found($0, at: $1) } }
            }
        }
        #expect(lines == expected)
        #expect(buffer.offset + 4 == Int64(text.utf8.count))
    }
}
