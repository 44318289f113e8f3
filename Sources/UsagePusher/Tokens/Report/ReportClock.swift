package import ClockZones
import Essentials

/// Days and times of a time zone.
package struct ReportClock: Sendable {
    package let zone: ClockZone
    private static let secondsPerDay = 86_400

    /// The offset of the UTC day that was asked for last; nil on a day on which it changes.
    private var day = Int.min
    private var offset: Int?

    package init(zone: ClockZone) { self.zone = zone }

    /// The day of a time in milliseconds since 1970. Fast for times in order.
    package mutating func day(of milliseconds: Int64) -> CalendarDay {
        let seconds = Int(GregorianDay.quotient(Int(milliseconds), 1_000))
        let utcDay = GregorianDay.quotient(seconds, Self.secondsPerDay)
        if utcDay != day {
            // No zone changes its offset twice within a day.
            day = utcDay
            let start = offset(at: utcDay * Self.secondsPerDay)
            offset = start == offset(at: (utcDay + 1) * Self.secondsPerDay) ? start : nil
        }
        return CalendarDay(number: GregorianDay.quotient(seconds + (offset ?? offset(at: seconds)), Self.secondsPerDay))
    }

    /// "2026-09-18 09:05" in the zone.
    package func minute(of milliseconds: Int64) -> String {
        let seconds = GregorianDay.quotient(Int(milliseconds), 1_000)
        return Self.minute(seconds + offset(at: seconds))
    }

    /// "2026-09-18T09:05:00.000Z", whatever the zone.
    package static func utc(_ milliseconds: Int64) -> String {
        let seconds = GregorianDay.quotient(Int(milliseconds), 1_000)
        let text = minute(seconds).replacing(" ", with: "T")
        let second = CalendarDay.padded(seconds - GregorianDay.quotient(seconds, 60) * 60, 2)
        let fraction = CalendarDay.padded(Int(milliseconds) - seconds * 1_000, 3)
        return "\(text):\(second).\(fraction)Z"
    }

    private static func minute(_ seconds: Int) -> String {
        let day = GregorianDay.quotient(seconds, secondsPerDay)
        let minutes = (seconds - day * secondsPerDay) / 60
        return "\(CalendarDay(number: day)) \(CalendarDay.padded(minutes / 60, 2)):"
            + CalendarDay.padded(minutes % 60, 2)
    }

    private func offset(at seconds: Int) -> Int { zone.secondsFromGMT(at: seconds) }
}
