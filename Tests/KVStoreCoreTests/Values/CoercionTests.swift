import Foundation
import Testing

@testable import KVStoreCore

@Suite("Coercion to another type")
struct CoercionTests {
    private static let others: [PropertyListValue] = [
        .date(Date(timeIntervalSinceReferenceDate: 1)), .data(Data([1])), .array([.integer(1)]),
        .dictionary(["a": .integer(1)]),
    ]

    @Test("a number as a string is its decimal text, anything else is nil")
    func strings() {
        let rows: [(PropertyListValue, String?)] = [
            (.string("x"), "x"), (.string(""), ""), (.bool(true), "1"), (.bool(false), "0"), (.integer(42), "42"),
            (.integer(.min), "-9223372036854775808"), (.double(1.5), "1.5"), (.double(3), "3"), (.double(-2), "-2"),
            (.double(0.1), "0.1"), (.double(1e300), "1e+300"),
        ]
        for (value, text) in rows { #expect(value.stringValue == text) }
        for value in Self.others { #expect(value.stringValue == nil) }
    }

    @Test("an Int64 truncates toward zero, and parses a leading integer after white space")
    func longLongs() {
        let rows: [(PropertyListValue, Int64)] = [
            (.integer(.max), .max), (.integer(.min), .min), (.bool(true), 1), (.bool(false), 0), (.double(2.9), 2),
            (.double(-2.9), -2), (.double(-0.0), 0), (.double(.nan), 0), (.double(1e30), .max), (.double(-1e30), .min),
            (.double(.infinity), .max), (.double(-.infinity), .min), (.double(0x1p63), .max), (.double(-0x1p63), .min),
            (.string("12"), 12), (.string("  \t\n 12abc"), 12), (.string("-7.9"), -7), (.string("+3"), 3),
            (.string("x1"), 0), (.string(""), 0), (.string("- 1"), 0), (.string("--1"), 0), (.string("0x10"), 0),
            (.string("9223372036854775807"), .max), (.string("9223372036854775808"), .max),
            (.string("-9223372036854775808"), .min), (.string("-9223372036854775809"), .min), (.string("true"), 0),
            (.string(String(repeating: "9", count: 10_000)), .max), (.string("١٢"), 0),
        ]
        for (value, number) in rows { #expect(value.longLongValue == number, "\(value)") }
        for value in Self.others { #expect(value.longLongValue == 0) }
    }

    @Test("a Double is the number, or the numeric prefix of a string")
    func doubles() {
        let rows: [(PropertyListValue, Double)] = [
            (.double(1.5), 1.5), (.integer(3), 3), (.bool(true), 1), (.bool(false), 0), (.string("2.5"), 2.5),
            (.string(" 2.5e2x"), 250), (.string("-.5"), -0.5), (.string("5."), 5), (.string("."), 0), (.string("-"), 0),
            (.string("1e"), 1), (.string("1e+"), 1), (.string("1e-2"), 0.01), (.string("abc"), 0), (.string(""), 0),
            (.string("+4"), 4), (.string("1.2.3"), 1.2), (.string("1e400"), .infinity), (.string("inf"), 0),
            (.string("nan"), 0), (.string("0x10"), 0),
        ]
        for (value, number) in rows { #expect(value.doubleValue == number, "\(value)") }
        for value in Self.others { #expect(value.doubleValue == 0) }
    }

    @Test("true is a number other than 0, an affirmative text or an integer prefix other than 0")
    func bools() {
        let yes: [PropertyListValue] = [
            .bool(true), .integer(1), .integer(-1), .double(0.5), .double(-.infinity),
            .string("YES"), .string("yes"), .string("Y"), .string("y"), .string("true"),
            .string("TRUE"), .string("1"), .string(" 7 dwarfs"), .string("-1"), .double(.nan),
        ]
        let no: [PropertyListValue] = [
            .bool(false), .integer(0), .double(0), .double(-0.0), .string("NO"), .string("false"),
            .string("0"), .string(""), .string("yess"), .string("on"), .string("0.9"),
            .string(" y"),
        ]
        for value in yes { #expect(value.boolValue, "\(value)") }
        for value in no + Self.others { #expect(!value.boolValue, "\(value)") }
    }
}
