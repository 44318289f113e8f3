import Essentials
import Foundation
import LocalFiles
import Testing

@testable import ClockZones

@Suite("Zones of clock times")
struct ClockZoneTests {
    private func seconds(_ text: String) throws -> Int {
        Int(try Date.ISO8601FormatStyle().parse(text).timeIntervalSince1970)
    }

    @Test(
        "a name that is none, or leads elsewhere, is refused",
        arguments: [
            "", "/etc/passwd", "../../etc/passwd", "Europe/../../secret", "Europe//Berlin", "Europe/Berlin/", "a.b",
            "Europe/Ber lin", "Zürich", "a/b/c/d/e", String(repeating: "a", count: 65), "Europe/Berlin\0",
        ])
    func names(name: String) throws {
        let zones = ZoneDirectory()
        try zones.write("Zone", ZoneFile().bytes)
        try zones.write("secret", ZoneFile().bytes)
        let error = #expect(throws: FileError.self) { try ClockZone.named(name, in: [zones.path + "/Europe"]) }
        #expect(error?.isInvalid == true)
    }

    @Test("a file is found in the first directory that has it, and what is wrong with it is said")
    func files() throws {
        let (first, second) = (ZoneDirectory(), ZoneDirectory())
        try first.write("Broken", Array("TZif".utf8))
        try first.write("Large", ZoneFile().bytes + [UInt8](repeating: 0, count: 65_536))
        try first.write("Part/One", ZoneFile(offsets: [3_600]).bytes)
        try second.write("Part/One", ZoneFile(offsets: [7_200]).bytes)
        try second.write("Part/Two", ZoneFile(offsets: [7_200]).bytes)
        let directories = [first.path, second.path]
        #expect(try ClockZone.named("Part/One", in: directories).secondsFromGMT(at: 0) == 3_600)
        #expect(try ClockZone.named("Part/Two", in: directories).secondsFromGMT(at: 0) == 7_200)
        let missing = #expect(throws: FileError.self) { try ClockZone.named("Part/Three", in: directories) }
        #expect(missing?.description == "cannot find the time zone Part/Three: no such file or directory")
        #expect(#expect(throws: FileError.self) { try ClockZone.named("Part", in: directories) }?.isMissing == true)
        let broken = #expect(throws: FileError.self) { try ClockZone.named("Broken", in: directories) }
        #expect(broken?.description == "cannot read \(first.path)/Broken: no time zone file: it ends early")
        let large = #expect(throws: FileError.self) { try ClockZone.named("Large", in: directories) }
        #expect(large?.cause == .tooLarge(byteLimit: 65_536))
    }

    @Test("UTC needs no file, and a former name leads to the file of the present one")
    func formerNames() throws {
        for name in ["UTC", "GMT", "Etc/UTC", "Etc/GMT"] { #expect(try ClockZone.named(name, in: []) == .gmt) }
        let zones = ZoneDirectory()
        try zones.write("Asia/Kolkata", ZoneFile(offsets: [19_800]).bytes)
        #expect(try ClockZone.named("Asia/Calcutta", in: [zones.path]).secondsFromGMT(at: 0) == 19_800)
        try zones.write("Asia/Calcutta", ZoneFile(offsets: [19_801]).bytes)
        #expect(try ClockZone.named("Asia/Calcutta", in: [zones.path]).secondsFromGMT(at: 0) == 19_801)
    }

    @Test("TZDIR names the directory if it is absolute")
    func directories() {
        #expect(ZoneFiles.directories(["TZDIR": "/zones"]) == ["/zones"])
        for variables in [["TZDIR": "zones"], [:]] { #expect(ZoneFiles.directories(variables).count == 2) }
    }

    @Test("offsets are those of the system's calendar, also in years that no file lists", arguments: Self.installed)
    func agreement(name: String) throws {
        let zone = try ClockZone.named(name)
        let other = try #require(TimeZone(identifier: name))
        let step = 86_400 * 3 + 7 * 3_600 + 913
        let (start, end) = try (seconds("1975-01-01T00:00:00Z"), seconds("2060-01-01T00:00:00Z"))
        for time in stride(from: start, to: end, by: step) {
            let date = Date(timeIntervalSince1970: Double(time))
            #expect(zone.secondsFromGMT(at: date) == other.secondsFromGMT(for: date), "\(date)")
        }
    }

    /// Zones whose rules have not changed for years, as far as the machine has them.
    private static let installed = [
        "Europe/Berlin", "Europe/Dublin", "America/New_York", "America/St_Johns", "America/Nuuk", "Australia/Lord_Howe",
        "Asia/Kathmandu", "Asia/Tokyo", "Pacific/Chatham", "Pacific/Apia", "America/Argentina/Buenos_Aires",
    ].filter { (try? ClockZone.named($0)) != nil }

    @Test("numbers and dates beyond all calendars have an offset", arguments: [ClockZone.local, .gmt])
    func extremes(zone: ClockZone) {
        for time in [Int.min, -1, 0, .max] { #expect(abs(zone.secondsFromGMT(at: time)) <= 93_599) }
        for date in [Date.distantPast, .distantFuture, Date(timeIntervalSince1970: 1e300)] {
            #expect(abs(zone.secondsFromGMT(at: date)) <= 93_599)
        }
    }

    @Test(
        "clocks show a time once, twice or never",
        arguments: [
            // Usual; skipped; the first of two; just before and after.
            ("2026-06-01T12:00:00Z", "2026-06-01T10:00:00Z"),
            ("2026-03-29T01:59:59Z", "2026-03-29T00:59:59Z"),
            ("2026-03-29T02:00:00Z", "2026-03-29T01:00:00Z"),
            ("2026-03-29T02:30:00Z", "2026-03-29T01:00:00Z"),
            ("2026-03-29T03:00:00Z", "2026-03-29T01:00:00Z"),
            ("2026-10-25T01:59:59Z", "2026-10-24T23:59:59Z"),
            ("2026-10-25T02:30:00Z", "2026-10-25T00:30:00Z"),
            ("2026-10-25T03:00:00Z", "2026-10-25T02:00:00Z"),
        ])
    func clocks(wall: String, time: String) throws {
        let zones = ZoneDirectory()
        try zones.write("Zone", ZoneFile(offsets: [3_600], rule: "CET-1CEST,M3.5.0,M10.5.0/3").bytes)
        let zone = try ClockZone.named("Zone", in: [zones.path])
        #expect(try zone.seconds(ofClocksShowing: seconds(wall)) == seconds(time))
    }

    @Test("a day that clocks skip is over when they do")
    func skippedDay() throws {
        let zones = ZoneDirectory()
        // As Samoa went without 2011-12-30.
        let change = Int64(try seconds("2011-12-30T10:00:00Z"))
        try zones.write("Zone", ZoneFile(times: [change], types: [1], offsets: [-36_000, 50_400]).bytes)
        let zone = try ClockZone.named("Zone", in: [zones.path])
        for time in ["00:00:00", "12:00:00", "23:59:59"] {
            #expect(try zone.seconds(ofClocksShowing: seconds("2011-12-30T\(time)Z")) == Int(change))
        }
        #expect(try zone.seconds(ofClocksShowing: seconds("2011-12-31T00:00:01Z")) == Int(change) + 1)
    }

    @Test("days have the number and the date of the system's calendar")
    func days() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        for number in stride(from: -700_000, to: 2_900_000, by: 997) {
            let date = GregorianDay.date(number)
            #expect(GregorianDay.number(year: date.year, month: date.month, day: date.day) == number)
            // Before 1582 the system's calendar is another one.
            guard number > -141_427 else { continue }
            let parts = calendar.dateComponents(
                [.year, .month, .day, .weekday], from: Date(timeIntervalSince1970: Double(number) * 86_400))
            #expect([parts.year, parts.month, parts.day] == [date.year, date.month, date.day])
            #expect(parts.weekday == (GregorianDay.weekday(number) + 1) % 7 + 1)
        }
    }
}
