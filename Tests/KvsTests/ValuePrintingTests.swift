import Essentials
import Commands
import Foundation
import KVStore
import KVStoreWire
import StoreTestSupport
import Testing

@testable import kvs

@Suite("Values as text and documents")
struct ValuePrintingTests {
    @Test("raw bytes are exactly the value")
    func raw() {
        #expect(PropertyListValue.data(Data([0, 255])).rawBytes == Data([0, 255]))
        let texts: [(PropertyListValue, String)] = [
            (.string("a\nü"), "a\nü"), (.integer(-5), "-5"), (.double(0.1), "0.1"),
            (.bool(true), "true"), (.date(Date(timeIntervalSince1970: 0)), "1970-01-01T00:00:00Z"),
            (
                .dictionary(["b": .array([.data(Data([1])), .bool(false)]), "a": .string("\"\u{1}")]),
                #"{"a":"\"\u0001","b":["AQ==",false]}"#
            ),
            (.dictionary([:]), "{}"), (.array([]), "[]"),
        ]
        for (value, text) in texts {
            #expect(String(decoding: value.rawBytes, as: UTF8.self) == text)
        }
    }

    @Test("values for a terminal are formatted and escaped")
    func readable() {
        #expect(
            ReadableValue.lines(.string("{\"b\":1,\"a\":[true]}"))
                == ["{", "  \"a\": [", "    true", "  ],", "  \"b\": 1", "}"])
        #expect(ReadableValue.lines(.data(Data(" [1]".utf8))) == ["[", "  1", "]"])
        #expect(ReadableValue.lines(.string("a\u{1B}[2J\nb\u{202E}")) == ["a\\u{1B}[2J", "b\\u{202E}"])
        #expect(ReadableValue.lines(.string("{not json")) == ["{not json"])
        #expect(
            ReadableValue.lines(.data(Data([0x41, 0x00, 0x7F])))
                == ["00000000  41 00 7f" + String(repeating: " ", count: 41) + "A.."])
        #expect(ReadableValue.lines(.data(Data())) == ["(no bytes)"])
        let long = ReadableValue.lines(.data(Data(repeating: 0, count: 9_000)))
        #expect(long.count == 17 && long.last?.contains("9000 bytes") == true)
        let key = ReadableValue.lines(.dictionary(["\u{1B}]0;x\u{7}": .string("\u{9B}31m")]))
        #expect(!key.joined().unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x9B })
    }

    @Test("dates have milliseconds only if needed, and inexact text is detected")
    func dates() throws {
        #expect(DateFormat.text(Date(timeIntervalSince1970: 0.25)) == "1970-01-01T00:00:00.250Z")
        #expect(DateFormat.exactText(Date(timeIntervalSinceReferenceDate: 0.5)) != nil)
        #expect(DateFormat.exactText(Date(timeIntervalSinceReferenceDate: 1.0 / 3)) == nil)
        let far = Date(timeIntervalSinceReferenceDate: 1e18)
        #expect(DateFormat.date(try #require(DateFormat.exactText(far))) == far)
    }

    @Test(
        "a date that does not exist is none",
        arguments: [
            "2026-02-30", "2026-13-01", "2026-00-10", "2026-04-31T01:00:00Z", "2026-01-01T24:00:00Z",
            "2026-01-01T12:60:00Z", "2026-01-01T12:00:60.5Z", "2025-02-29T00:00:00+01:00",
        ])
    func impossibleDates(text: String) { #expect(DateFormat.date(text) == nil) }

    @Test("a document decodes to the same values, whatever their types")
    func roundTrip() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let value = Self.value(depth: 0, &random)
            let document = ExportDocument(store: "s", exported: "x", values: [.init(key: "k\u{1}ü", value: value)])
            let read = try ExportDocument.decode(document.encoded(), from: "x", store: "default")
            #expect(read == document, "seed \(seed): \(value)")
        }
        var deep = PropertyListValue.string("x")
        for _ in 0..<120 { deep = .dictionary(["k": .array([deep])]) }
        for special in [
            PropertyListValue.double(.infinity), .double(-.infinity), .double(-0.0),
            .double(.leastNonzeroMagnitude), .double(.greatestFiniteMagnitude), .integer(.min),
        ] {
            let document = ExportDocument(store: "s", exported: "x", values: [.init(key: "k", value: special)])
            let read = try ExportDocument.decode(document.encoded(), from: "x", store: "default")
            #expect(read.values[0].value.encoded() == special.encoded())
        }
        #expect(
            try TypedValue.self
                == type(
                    of: JSONDecoder().decode(TypedValue.self, from: Data(#"{"type":"double","value":"nan"}"#.utf8))))
    }

    @Test(
        "an invalid document is refused with the path of the field",
        arguments: [
            ("", "not an export"), ("[]", "not an export"), ("{}", "missing field version"),
            (#"{"version":2,"store":"s","exported":"","values":[]}"#, "version 2"),
            (#"{"version":1,"store":"s","exported":"","values":[{"key":"k","type":"x","value":1}]}"#, "values[0].type"),
            (
                #"{"version":1,"store":"s","exported":"","values":[{"key":"k","type":"integer","value":"1"}]}"#,
                "values[0].value"
            ),
            (
                #"{"version":1,"store":"s","exported":"","values":[{"type":"integer","value":1}]}"#,
                "values[0]: missing field key"
            ),
            (
                #"{"version":1,"store":"s","exported":"","values":[{"key":"k","type":"date","value":"soon"}]}"#,
                "values[0].value"
            ),
        ])
    func badDocuments(text: String, words: String) {
        do throws(DocumentError) {
            _ = try ExportDocument.decode(Data(text.utf8), from: "file.json", store: "default")
            Issue.record("accepted")
        } catch {
            #expect(error.exitStatus == .dataError)
            #expect(error.description.hasPrefix("file.json: "))
            #expect(error.description.contains(words), "\(error)")
        }
    }

    @Test("an import is planned as a whole or refused with the first reason")
    func importPlan() throws {
        func document(_ values: [(String, PropertyListValue)]) -> ExportDocument {
            ExportDocument(store: "s", exported: "", values: values.map { .init(key: $0.0, value: $0.1) })
        }
        func failure(_ values: [(String, PropertyListValue)], _ limits: StoreLimits = StoreLimits()) -> String? {
            do throws(CommandFailure) {
                _ = try ImportPlan(document(values), into: ["old": .integer(1)], limits: limits)
                return nil
            } catch {
                return error.message
            }
        }
        let plan = try ImportPlan(
            document([("a", .integer(1)), ("b", .integer(2)), ("c", .double(1))]),
            into: ["a": .integer(1), "b": .integer(1), "x": .bool(true)], limits: StoreLimits())
        #expect(plan.newKeyCount == 1 && plan.changedKeyCount == 1 && plan.unchangedKeyCount == 1)
        #expect(plan.writes.map(\.key) == ["b", "c"])
        #expect(failure([("a", .bool(true)), ("a", .bool(true))])?.contains("twice") == true)
        #expect(failure([("", .bool(true))])?.contains("length") == true)
        #expect(failure([(String(repeating: "k", count: 129), .bool(true))]) != nil)
        #expect(failure([("a", .data(Data(count: 1_048_576)))])?.contains("bytes") == true)
        #expect(failure((0..<1_024).map { ("k\($0)", .bool(true)) })?.contains("1025 keys") == true)
        #expect(
            failure([("a", .data(Data(count: 600_000))), ("b", .data(Data(count: 600_000)))])?
                .contains("the store would hold") == true)
        var deep = PropertyListValue.bool(true)
        for _ in 0..<200 { deep = .array([deep]) }
        #expect(failure([("a", deep)])?.contains("deep") == true)
    }

    @Test("an import keeps canonically equivalent keys apart")
    func importOfEquivalentKeys() throws {
        let (decomposed, composed) = ("e\u{301}", "\u{e9}")
        let document = ExportDocument(
            store: "s", exported: "",
            values: [
                .init(key: decomposed, value: .integer(1)),
                .init(key: composed, value: .integer(1)),
            ])
        let plan = try ImportPlan(document, into: ["e\u{301}": .integer(1)], limits: StoreLimits())
        #expect(plan.newKeyCount == 1 && plan.unchangedKeyCount == 1)
        #expect(plan.writes.map { Array($0.key.utf8) } == [Array(composed.utf8)])
    }

    @Test("a watched change is one escaped line or one JSON object")
    func watchLines() throws {
        let time = Date(timeIntervalSince1970: 1_789_732_800.75)
        let line = WatchLine(key: "a\nb", reason: .serverChange, byteCount: 7, time: time)
        #expect(line.text == "2026-09-18T12:00:00Z  change  a\\u{A}b  7 bytes")
        let removed = WatchLine(key: "k", reason: .initialSyncChange, byteCount: nil, time: time)
        #expect(removed.text == "2026-09-18T12:00:00Z  initial-sync  k  removed")
        #expect(
            try JSONOutput.data(removed, dates: .exact)
                == Data(
                    (#"{"key":"k","reason":"initial-sync","removed":true,"#
                        + #""time":"2026-09-18T12:00:00.750Z"}"# + "\n").utf8))
    }

    private static func value(depth: Int, _ random: inout SeededGenerator) -> PropertyListValue {
        switch Int.random(in: 0...(depth < 4 ? 7 : 5), using: &random) {
        case 0: .bool(Bool.random(using: &random))
        case 1: .integer(Int64.random(in: .min ... .max, using: &random))
        case 2: .double(Double.random(in: -1e9...1e9, using: &random))
        case 3: .string(text(&random))
        case 4: .date(date(&random))
        case 5: .data(Data((0..<Int.random(in: 0...9, using: &random)).map { UInt8($0 * 31) }))
        case 6:
            .array(
                (0..<Int.random(in: 0...3, using: &random)).map { _ in
                    value(depth: depth + 1, &random)
                })
        default:
            .dictionary(
                Dictionary(
                    (0..<Int.random(in: 0...3, using: &random)).map { _ in
                        (text(&random), value(depth: depth + 1, &random))
                    }, uniquingKeysWith: { first, _ in first }))
        }
    }

    private static func date(_ random: inout SeededGenerator) -> Date {
        let seconds = Double.random(in: -1e11...1e11, using: &random)
        return Date(timeIntervalSinceReferenceDate: Bool.random(using: &random) ? seconds : seconds.rounded())
    }

    private static func text(_ random: inout SeededGenerator) -> String {
        let letters = Array("aZ0 \"\\\n\u{0}\u{1B}üé\u{202E}👩‍💻/".unicodeScalars)
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            text.append(letters.randomElement(using: &random) ?? "a")
        }
        return String(text)
    }
}
