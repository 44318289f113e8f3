import Essentials
import Commands
import Foundation
import KVStore
import KVStoreWire
import Testing

@testable import kvs

@Suite("Values from the command line")
struct ValueParsingTests {
    @Test(
        "each type is parsed from its text",
        arguments: [
            ("", ValueForm.string, PropertyListValue.string("")), (" a\n", .string, .string(" a\n")),
            ("-9223372036854775808", .integer, .integer(.min)), ("2.50", .double, .double(2.5)),
            ("-1e-3", .double, .double(-0.001)), ("Yes", .bool, .bool(true)), ("false", .bool, .bool(false)),
            ("0", .bool, .bool(false)),
            ("2026-09-18T12:00:00Z", .date, .date(Date(timeIntervalSince1970: 1_789_732_800))),
            ("2026-09-18T14:00:00+02:00", .date, .date(Date(timeIntervalSince1970: 1_789_732_800))),
            ("2026-09-18", .date, .date(Date(timeIntervalSince1970: 1_789_689_600))),
            ("AAEC", .data, .data(Data([0, 1, 2]))),
        ])
    func valid(text: String, type: ValueForm, value: PropertyListValue) throws {
        #expect(try ValueParsing.value(text, as: type) == value)
    }

    @Test(
        "text of another type is refused and quoted",
        arguments: [
            ("", ValueForm.integer), ("1.5", .integer), ("18446744073709551616", .integer), ("0x10", .integer),
            (" 1", .integer), ("one", .double), ("nan", .double), ("inf", .double), ("1e999", .double),
            ("maybe", .bool), ("", .bool), ("yesterday", .date), ("2026-13-01", .date), ("2026-09-18T12:00", .date),
            ("2026-09-18T12:00:00Zx", .date), ("2026-09-1x", .date), ("2026-09-18T12:00:00", .date), ("A", .data),
            ("ä", .data),
        ])
    func invalid(text: String, type: ValueForm) {
        do throws(CommandFailure) {
            let value = try ValueParsing.value(text, as: type)
            Issue.record("\(value)")
        } catch {
            #expect(error.status == .usage)
            #expect(error.message.contains(text.isEmpty ? "empty" : text))
        }
    }

    @Test("bytes are stored as data, as a string if they are UTF-8, and as a number without the final newline")
    func bytes() throws {
        #expect(try ValueParsing.value(Data([0xFF, 0]), as: .data) == .data(Data([0xFF, 0])))
        #expect(try ValueParsing.value(Data("a\n".utf8), as: .string) == .string("a\n"))
        #expect(try ValueParsing.value(Data("5\r\n".utf8), as: .integer) == .integer(5))
        #expect(throws: CommandFailure.self) {
            try ValueParsing.value(Data([0xFF]), as: .string)
        }
    }

    @Test("JSON becomes a property list unless it is null, invalid or nested too deeply")
    func json() throws {
        let value = try PlainJSON.parse(Data(#"{"a":[1,-2.5,true,"x",{}],"n":9223372036854775807}"#.utf8))
        #expect(
            value
                == .dictionary([
                    "a": .array([
                        .integer(1), .double(-2.5), .bool(true), .string("x"), .dictionary([:]),
                    ]), "n": .integer(.max),
                ]))
        #expect(try PlainJSON.parse(Data("true".utf8)) == .bool(true))
        for text in [
            "", "null", "[null]", "{", "tru", "{\"a\":1}x",
            String(repeating: "[", count: 300) + String(repeating: "]", count: 300),
            String(repeating: "[", count: 100_000),
        ] {
            #expect(throws: CommandFailure.self) { try PlainJSON.parse(Data(text.utf8)) }
        }
    }

    @Test("a negative number after set is a value, and other arguments are unchanged")
    func negativeNumbers() {
        func arranged(_ text: String) -> String {
            NegativeNumbers.arranged(text.split(separator: " ").map(String.init)).joined(separator: " ")
        }
        #expect(arranged("set n -5 --int") == "set n --int -- -5")
        #expect(arranged("set n --int -5") == "set n --int -- -5")
        #expect(arranged("set n -1.5 --type double") == "set n --type double -- -1.5")
        for text in ["set n --timeout -5", "set n -- -5", "get -5", "set n 5", "set n -x", "", "set"] {
            #expect(arranged(text) == text)
        }
    }
}
