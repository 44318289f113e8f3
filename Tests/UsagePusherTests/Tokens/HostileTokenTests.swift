import Foundation
import LocalFiles
import Testing

@testable import SQLiteReading
@testable import UsagePusher

/// What must hold for the logs of every tool, whatever is in their files.
@Suite("Hostile token logs", .timeLimit(.minutes(10)))
struct HostileTokenTests {
    /// At most so many of the literals of one sample are changed.
    private static let literalLimit = 48

    /// Evenly chosen.
    private static func chosen<Element>(_ elements: [Element], _ limit: Int) -> [Element] {
        guard elements.count > limit else { return elements }
        return (0..<limit).map { elements[$0 * elements.count / limit] }
    }

    /// Whether a member of this name counts tokens.
    private static func isCount(_ key: String) -> Bool {
        let key = key.lowercased().filter { $0.isLetter }
        let kinds = ["input", "output", "prompt", "completion", "candidates", "cache", "cached"]
        return ["tokensin", "tokensout", "cachereads", "cachewrites"].contains(key)
            || kinds.contains { key.hasPrefix($0) && key.hasSuffix("tokens") }
    }

    @Test("an impossible number takes its record away and is reported", arguments: RecordingSource.all)
    func impossibleNumbers(_ source: RecordingSource) throws {
        let numbers = [
            "-5", "1.5", "9223372036854775808", "1e999", "99999999999999999999999999999999", "17179869184",
        ]
        for sample in try source.samples() where !sample.isOpened {
            let full = try sample.read()
            for (key, range) in Self.chosen(sample.literals(strings: false), Self.literalLimit) {
                for number in numbers {
                    let entries = try sample.read(sample.replacing(range, with: Array(number.utf8)))
                    let place = "\(sample.relativePath) at byte \(range.lowerBound): \(key) \(number)"
                    guard Self.isCount(key) else { continue }
                    #expect(entries.total <= full.total, "\(place)")
                    if entries.total < full.total {
                        #expect(entries.leftOutCount > full.leftOutCount, "\(place)")
                    }
                }
            }
        }
    }

    @Test("a time that cannot be takes its record away and is reported", arguments: RecordingSource.all)
    func impossibleTimes(_ source: RecordingSource) throws {
        for sample in try source.samples() where !sample.isOpened {
            let full = try sample.read()
            for strings in [false, true] {
                let times = sample.literals(strings: strings).filter { ["timestamp", "time", "ts"].contains($0.key) }
                for (key, range) in Self.chosen(times, Self.literalLimit) {
                    for text in strings ? ["\"2026-11-20T99:00:05.000Z\"", "\"never\""] : ["-5", "1e300"] {
                        let entries = try sample.read(sample.replacing(range, with: Array(text.utf8)))
                        #expect(
                            entries.total == full.total || entries.leftOutCount > full.leftOutCount,
                            "\(sample.relativePath) at byte \(range.lowerBound): \(key) \(text)")
                    }
                }
            }
        }
    }

    @Test("a value of any kind in the place of a number is read or left out", arguments: RecordingSource.all)
    func otherValues(_ source: RecordingSource) throws {
        let values = [
            "null", "[]", "{}", "true", "\"NaN\"", "\"Infinity\"", "\"\"", "\"yesterday\"",
            "\"9999-12-31T23:59:59Z\"", "253402300799000", "-62135596800", "\"-1\"", "0", "-0",
            "\"2026-13-45T99:99:99Z\"", "[[[", "\"", "}", "nul", "-", "1e", "\\",
        ]
        for sample in try source.samples() where !sample.isOpened {
            for (_, range) in Self.chosen(sample.literals(strings: false), Self.literalLimit) {
                for value in values {
                    try check(sample.read(sample.replacing(range, with: Array(value.utf8))))
                }
            }
        }
    }

    @Test("any text is shown without control characters or not at all", arguments: RecordingSource.all)
    func texts(_ source: RecordingSource) throws {
        let texts: [[UInt8]] = [
            Array(#""\ud800""#.utf8), Array(#""\udc00\ud800x""#.utf8), Array(#""\u0000""#.utf8),
            Array(#""\u001b[31m\u202e\u2028\n""#.utf8), Array(#""\q""#.utf8), Array(#""\u12"#.utf8),
            [0x22, 0, 0x22], [0x22, 0xFF, 0xC0, 0xFE, 0x22], [0x22, 0x1B, 0x5D, 0x07, 0x22],
            [0x22] + [UInt8](repeating: 0x61, count: 9_000) + [0x22], Array(#""../../etc""#.utf8),
            Array("7".utf8), Array("{}".utf8), Array("null".utf8), [0], [0xEF, 0xBB, 0xBF],
        ]
        for sample in try source.samples() where !sample.isOpened {
            for (_, range) in Self.chosen(sample.literals(strings: true), Self.literalLimit) {
                for text in texts { try check(sample.read(sample.replacing(range, with: text))) }
            }
        }
    }

    @Test(
        "a value of another type in the place of a text does not make its line unreadable",
        arguments: RecordingSource.all)
    func otherTypes(_ source: RecordingSource) throws {
        for sample in try source.samples() where sample.isOfLines {
            let before = sample.unreadableLineCount(in: sample.bytes)
            let literals = Dictionary(grouping: sample.literals(strings: true), by: \.key)
            for (key, range) in literals.values.flatMap({ Self.chosen($0, 3) }) {
                for value in ["null", "7", "[]", "{}"] {
                    let changed = sample.replacing(range, with: Array(value.utf8))
                    let count = sample.unreadableLineCount(in: changed)
                    #expect(count <= before, "\(sample.relativePath): \(key) \(value)")
                }
            }
        }
    }

    @Test("a key in another spelling is another key", arguments: RecordingSource.all)
    func keys(_ source: RecordingSource) throws {
        for sample in try source.samples() where !sample.isOpened {
            let full = try sample.read()
            let quotes = sample.bytes.indices.filter { sample.bytes[$0] == UInt8(ascii: "\"") }
            for index in Self.chosen(quotes, 4 * Self.literalLimit) {
                guard index + 1 < sample.bytes.count else { continue }
                let digits = String(sample.bytes[index + 1], radix: 16)
                let escaped = "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                let changed = sample.replacing(index + 1..<index + 2, with: Array(escaped.utf8))
                let entries = try sample.read(changed)
                try check(entries)
                // What says that a prompt is another one than before counts nothing.
                #expect(entries.entries.count { !$0.isEstimate } <= full.entries.count + 1)
            }
        }
    }

    @Test("a file that is cut anywhere gives a part of its records", arguments: RecordingSource.all)
    func prefixes(_ source: RecordingSource) throws {
        for sample in try source.samples() where !sample.isOpened {
            let full = try sample.read()
            let totals = Dictionary(full.entries.map { ($0.id, $0.total) }, uniquingKeysWith: { max($0, $1) })
            // Every byte of the end; of what is before, some.
            let last = sample.bytes.count - 384
            let step = max(1, last / 128)
            for count in 0..<sample.bytes.count where count > last || count.isMultiple(of: step) {
                let prefix = Array(sample.bytes[..<count])
                let isPart = try sample.read(prefix).entries.allSatisfy {
                    $0.total <= totals[$0.id] ?? -1
                }
                if !isPart { Issue.record("\(sample.relativePath) cut at byte \(count)") }
                if sample.isOfLines { try check(sample.read(prefix + [0x0A])) }
            }
        }
    }

    @Test("nesting of any depth costs no stack", arguments: RecordingSource.all)
    func nesting(_ source: RecordingSource) throws {
        let deep = String(repeating: "[", count: 100_000)
        let objects = String(repeating: "{\"a\":", count: 100_000)
        for sample in try source.samples() where !sample.isOpened {
            for text in [deep, objects, deep + String(repeating: "]", count: 100_000)] {
                try check(sample.read(Array((text + "\n").utf8)))
                guard let brace = sample.bytes.firstIndex(of: UInt8(ascii: "{")) else { continue }
                let inserted = Array("{\"unknown\":\(text),".utf8)
                try check(sample.read(sample.replacing(brace..<brace + 1, with: inserted)))
            }
        }
    }

    @Test("a damaged database is reported or read in part", arguments: RecordingSource.all)
    func databases(_ source: RecordingSource) throws {
        guard SQLiteLibrary.installed != nil else { return }
        for sample in try source.samples() where sample.isOpened {
            let full = try sample.read()
            for count in stride(from: 0, to: sample.bytes.count, by: 509) {
                let entries = try sample.read(Array(sample.bytes[..<count]))
                #expect(entries.entries.count <= full.entries.count)
                if count > 0 { #expect(!entries.issues.isEmpty || entries.total == full.total) }
            }
            for index in stride(from: 0, to: sample.bytes.count, by: 61) {
                var bytes = sample.bytes
                bytes[index] ^= 0xFF
                try check(sample.read(bytes))
            }
        }
    }

    /// Whether what was read can be kept and shown.
    private func check(_ entries: LogEntries) throws {
        let isPlain = entries.texts.allSatisfy { text in
            text.unicodeScalars.allSatisfy {
                $0.properties.generalCategory != .control && $0.properties.generalCategory != .format
            }
        }
        let range: ClosedRange<Int64> = 946_684_800_000...4_102_444_800_000
        let isPlausible = entries.entries.allSatisfy { range.contains($0.time) }
        if !isPlain || !isPlausible { Issue.record("\(entries.merged) \(entries.texts)") }
    }
}
