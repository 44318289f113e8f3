import ClockZones
import Foundation
import Testing

@testable import UsagePusher

@Suite("Days of reports")
struct CalendarDayTests {
    @Test("a day is read with hyphens and without", arguments: ["2026-09-17", "20260917"])
    func read(_ text: String) throws {
        let day = try #require(CalendarDay(text))
        #expect(day.description == "2026-09-17")
        #expect(day.weekday == .thursday)
        #expect(day.month == "2026-09")
    }

    @Test(
        "what is no day is not read",
        arguments: [
            "", "2026", "2026-9-17", "2026-02-29", "2026-13-01", "2026-00-10", "2026-01-00", "20260931", "2026/09/17",
            "2026-0917", "202609-17", "-0260917", "２０２６０９１７", "2026-09-17Z", "0000-01-01",
        ])
    func noDay(_ text: String) {
        #expect(CalendarDay(text) == nil)
    }

    @Test("every day of four centuries has the date that Foundation gives it")
    func dates() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let first = try #require(CalendarDay("1900-01-01"))
        for number in stride(from: first.number, to: first.number + 146_097, by: 17) {
            let date = Date(timeIntervalSince1970: Double(number) * 86_400)
            let parts = calendar.dateComponents([.year, .month, .day, .weekday], from: date)
            let day = CalendarDay(number: number)
            #expect(day.date == (parts.year, parts.month, parts.day))
            #expect(day.weekday.index == ((parts.weekday ?? 0) + 5) % 7)
            #expect(CalendarDay(day.description) == day)
        }
    }

    @Test("a week begins on the day that was chosen", arguments: Weekday.allCases)
    func weeks(_ start: Weekday) throws {
        let first = try #require(CalendarDay("2026-08-30"))
        for number in first.number..<first.number + 14 {
            let day = CalendarDay(number: number)
            let week = day.onOrBefore(start)
            #expect(week.weekday == start)
            #expect((0..<7).contains(day.number - week.number))
        }
    }

    @Test(
        "a time is of its zone's day, whatever the offset",
        arguments: [
            ("Asia/Kathmandu", "2026-09-17T18:14:59.999Z", "2026-09-17"),
            ("Asia/Kathmandu", "2026-09-17T18:15:00Z", "2026-09-18"),
            ("Pacific/Chatham", "2026-07-01T11:14:59Z", "2026-07-01"),
            ("Pacific/Chatham", "2026-07-01T11:15:00Z", "2026-07-02"),
            ("America/St_Johns", "2026-01-02T03:29:59Z", "2026-01-01"),
            ("America/St_Johns", "2026-01-02T03:30:00Z", "2026-01-02"),
            // Half an hour more from 15:30 UTC on 2026-10-03: midnight is at 13:30, then at 13:00.
            ("Australia/Lord_Howe", "2026-10-03T13:29:59Z", "2026-10-03"),
            ("Australia/Lord_Howe", "2026-10-03T13:30:00Z", "2026-10-04"),
            ("Australia/Lord_Howe", "2026-10-04T12:59:59Z", "2026-10-04"),
            ("Australia/Lord_Howe", "2026-10-04T13:00:00Z", "2026-10-05"),
            // Without the last day of 2011-12-30.
            ("Pacific/Apia", "2011-12-30T09:59:59Z", "2011-12-29"),
            ("Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31"),
        ])
    func zones(_ zone: String, _ time: String, _ day: String) {
        var clock = ReportClock(zone: query(zone).zone)
        #expect(clock.day(of: milliseconds(time)).description == day)
    }

    @Test(
        "a day on which clocks change has 23 or 25 hours",
        arguments: [
            ("2026-03-29", 23), ("2026-10-25", 25), ("2026-03-28", 24),
        ])
    func changes(_ text: String, _ hours: Int) throws {
        var clock = ReportClock(zone: query("Europe/Berlin").zone)
        let day = try #require(CalendarDay(text))
        let start = Int64(day.number - 1) * 86_400_000
        let quarters = stride(from: start, to: start + 3 * 86_400_000, by: 900_000).count { clock.day(of: $0) == day }
        #expect(quarters == hours * 4)
    }

    @Test(
        "offsets that are remembered are those of the zone",
        arguments: [
            "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu", "Africa/Casablanca", "America/Sao_Paulo",
        ])
    func remembered(_ name: String) {
        let zone = query(name).zone
        var clock = ReportClock(zone: zone)
        let start: Int64 = 1_500_000_000_000
        for time in stride(from: start, to: start + 2 * 366 * 86_400_000, by: 900_000 * 3) {
            let date = Date(timeIntervalSince1970: Double(time) / 1_000)
            let local = Double(zone.secondsFromGMT(at: date)) + date.timeIntervalSince1970
            #expect(clock.day(of: time).number == Int((local / 86_400).rounded(.down)))
        }
    }

    @Test("times are written in the zone and in UTC")
    func texts() {
        let clock = ReportClock(zone: query("Asia/Kathmandu").zone)
        let time = milliseconds("2026-09-17T18:15:09.034Z")
        #expect(clock.minute(of: time) == "2026-09-18 00:00")
        #expect(ReportClock.utc(time) == "2026-09-17T18:15:09.034Z")
    }
}
