import Foundation
import Testing

@testable import ClockZones

@Suite("Rules of time zones")
struct ZoneRulesTests {
    private func seconds(_ text: String) throws -> Int {
        Int(try Date.ISO8601FormatStyle().parse(text).timeIntervalSince1970)
    }

    @Test("an offset holds from its time on, the first one before all, the last one after all", arguments: [0, 0x32])
    func transitions(version: UInt8) throws {
        let file = ZoneFile(version: version, times: [-100, 50], types: [1, 2], offsets: [10, 20, 30])
        let rules = try ZoneRules(file: file.bytes)
        let expected = [(-101, 10), (-100, 20), (49, 20), (50, 30), (4_000_000_000, 30)]
        for (time, offset) in expected { #expect(rules.offset(at: time) == offset) }
    }

    @Test("times of 64 bits are read, and after the last one the rule holds")
    func later() throws {
        let file = ZoneFile(
            times: [-5_000_000_000, 5_000_000_000], types: [1, 0], offsets: [3_600, 0],
            rule: "CET-1CEST,M3.5.0,M10.5.0/3")
        let rules = try ZoneRules(file: file.bytes)
        #expect(rules.offset(at: -5_000_000_001) == 3_600)
        #expect(rules.offset(at: 4_999_999_999) == 0)
        #expect(try rules.offset(at: seconds("2100-07-01T00:00:00Z")) == 0)
        #expect(try rules.offset(at: seconds("2170-07-01T00:00:00Z")) == 7_200)
        #expect(try rules.offset(at: seconds("2170-01-01T00:00:00Z")) == 3_600)
    }

    @Test(
        "a rule says when clocks change, year by year",
        arguments: [
            // The last Sunday of March, at 1:00 UTC.
            ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T00:59:59Z", 3_600),
            ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T01:00:00Z", 7_200),
            ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-25T00:59:59Z", 7_200),
            ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-25T01:00:00Z", 3_600),
            // The second Sunday, in a month that begins with one.
            ("EST5EDT,M3.2.0,M11.1.0", "2026-03-08T06:59:59Z", -18_000),
            ("EST5EDT,M3.2.0,M11.1.0", "2026-03-08T07:00:00Z", -14_400),
            ("EST5EDT,M3.2.0,M11.1.0", "2026-11-01T06:00:00Z", -18_000),
            // In the south the year begins and ends in summer.
            ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-01-01T00:00:00Z", 39_600),
            ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-06-01T00:00:00Z", 36_000),
            ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-12-31T23:59:59Z", 39_600),
            // Half an hour, with a name in angle brackets.
            ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-10-03T15:30:00Z", 39_600),
            // Winter time is what is saved, and clocks change the day before.
            ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-07-01T00:00:00Z", 3_600),
            ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-12-01T00:00:00Z", 0),
            ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T00:59:59Z", -7_200),
            ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T01:00:00Z", -3_600),
            // All year long.
            ("EST5EDT,0/0,J365/25", "2026-01-01T05:00:00Z", -14_400),
            ("EST5EDT,0/0,J365/25", "2026-12-31T23:00:00Z", -14_400),
            // Day 60 is March 1 in each year, or February 29, and day 59 of those from 0.
            ("AAA0BBB,J60/0,J300/0", "2028-02-29T23:59:59Z", 0),
            ("AAA0BBB,J60/0,J300/0", "2028-03-01T00:00:00Z", 3_600),
            ("AAA0BBB,J60/0,J300/0", "2027-03-01T00:00:00Z", 3_600),
            ("AAA0BBB,59/0,300/0", "2028-02-29T00:00:00Z", 3_600),
            ("UTC0", "2026-07-01T00:00:00Z", 0), ("<-03>3", "2026-07-01T00:00:00Z", -10_800),
            ("ABC-1:02:03", "2026-07-01T00:00:00Z", 3_723),
        ])
    func rule(_ text: String, _ time: String, _ offset: Int) throws {
        #expect(try DaylightRule(Array(text.utf8)[...]).offset(at: seconds(time)) == offset)
    }

    @Test(
        "a text that is no rule is refused",
        arguments: [
            "", "CE-1", "CET", "CET-25", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.1.0,M10.5.0", "<CET-1",
            "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,J0,J5", "CET-1CEST,366,5",
            "CET-1CEST,M3.5.0,M10.5.0/168", "CET-1CEST,M3.5.0,M10.5.0 ", "CET-1:60", "CET-1CEST,M3.5.0,M10.5.0/",
            "CET-1CEST,M99999999999999999999.5.0,M10.5.0",
        ])
    func noRule(text: String) {
        #expect(throws: InvalidZone.self) { try DaylightRule(Array(text.utf8)[...]) }
    }

    @Test("a file that breaks the format is refused")
    func invalid() {
        let files = [
            ZoneFile(times: [5, 5], types: [0, 0]), ZoneFile(times: [5, 4], types: [0, 0]),
            ZoneFile(times: [5], types: [1]), ZoneFile(offsets: []), ZoneFile(offsets: [93_600]),
            ZoneFile(leapCount: 1), ZoneFile(rule: "nonsense"),
        ]
        for file in files { #expect(throws: InvalidZone.self) { try ZoneRules(file: file.bytes) } }
        let versions = ZoneFile().bytes.indices.filter { ZoneFile().bytes[$0...].starts(with: Array("TZif2".utf8)) }
        #expect(versions.count == 2)
        var other = ZoneFile().bytes
        other[versions[1] + 4] = UInt8(ascii: "3")
        #expect(throws: InvalidZone.self) { try ZoneRules(file: other) }
    }

    @Test("no part of a file is a file, and no byte of one stops the program")
    func damaged() throws {
        let file = ZoneFile(
            times: [-100, 50], types: [1, 2], offsets: [10, 20, 30], rule: "CET-1CEST,M3.5.0,M10.5.0/3"
        ).bytes
        for count in file.indices {
            #expect(throws: InvalidZone.self) { try ZoneRules(file: Array(file[..<count])) }
        }
        for index in file.indices {
            for byte in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
                var damaged = file
                damaged[index] = byte
                // Either is an answer.
                guard let rules = try? ZoneRules(file: damaged) else { continue }
                for time in [-62_135_596_800, 0, 253_402_300_799] {
                    #expect((-700_000...700_000).contains(rules.offset(at: time)))
                }
            }
        }
    }
}
