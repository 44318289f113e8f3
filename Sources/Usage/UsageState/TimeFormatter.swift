package import ClockZones
package import Essentials
import TerminalText

/// Times relative to now, in English.
package struct TimeFormatter {
    package var now: Date
    /// The zone of clock times.
    package var zone: ClockZone
    /// Clock times instead of countdowns and ages.
    package var isAbsolute = false
    /// "3:30 PM" instead of "15:30".
    package var isTwelveHour = false

    /// "12 min ago", or the clock time.
    package func past(_ date: Date) -> String { isAbsolute ? clock(date) : DurationFormatter.age(of: date, at: now) }

    /// "in 1h 30m", or the clock time.
    package func upcoming(_ date: Date) -> String {
        isAbsolute ? clock(date) : "in " + DurationFormatter.countdown(to: date, from: now)
    }

    /// "resets in 1h 30m", "resets 13:30", "reset 10 min ago", "reset at 13:30".
    package func reset(_ date: Date) -> String {
        if date > now { return "resets " + upcoming(date) }
        return (isAbsolute ? "reset at " : "reset ") + past(date)
    }

    /// "runs out in 50m", with a basis "runs out Thu 24 Sep 15:00 by your last 4 weeks".
    func runsOut(_ date: Date, basis: String? = nil) -> String {
        guard date > now else { return "may have run out" }
        let time =
            basis == nil
            ? "in " + DurationFormatter.countdown(to: date, from: now) : clock(date)
        return "runs out " + time + (basis ?? "")
    }

    /// "13:30" today, "Mon 21 Sep 17:00" within half a year, else "21 Sep 2027".
    package func clock(_ date: Date) -> String {
        let (time, present) = (components(of: date), components(of: now))
        let clock = self.time(time)
        if (time.year, time.month, time.day) == (present.year, present.month, present.day) { return clock }
        let day = day(time)
        if abs(date.timeIntervalSince(now)) > 182 * 86_400 { return day + " \(time.year ?? 0)" }
        return Self.weekdays[(time.weekday ?? 1) - 1] + " " + day + " " + clock
    }

    /// "13:30" today, "Mon 13:30" within six days, else "21 Sep"; with another year "21 Sep 2027".
    package func brief(_ date: Date) -> String {
        let (time, present) = (components(of: date), components(of: now))
        let clock = self.time(time)
        if (time.year, time.month, time.day) == (present.year, present.month, present.day) { return clock }
        if abs(zone.day(of: date) - zone.day(of: now)) <= 6 {
            return Self.weekdays[(time.weekday ?? 1) - 1] + " " + clock
        }
        return time.year == present.year ? day(time) : day(time) + " \(time.year ?? 0)"
    }

    /// "13:30", whatever the day.
    package func time(_ date: Date) -> String { time(components(of: date)) }

    /// "Mon 21 Sep".
    package func day(_ date: Date) -> String {
        let time = components(of: date)
        return Self.weekdays[(time.weekday ?? 1) - 1] + " " + day(time)
    }

    /// "Mon 21 Sep", of another year than now "Mon 21 Sep 2027".
    ///
    /// - Parameter number: days since 1970-01-01.
    package func day(number: Int) -> String {
        let date = GregorianDay.date(number)
        // The week of `weekdays` begins with Sunday.
        let weekday = Self.weekdays[(GregorianDay.weekday(number) + 1) % 7]
        let isOfThisYear = date.year == GregorianDay.date(zone.day(of: now)).year
        return "\(weekday) \(date.day) \(Self.months[date.month - 1])" + (isOfThisYear ? "" : " \(date.year)")
    }

    /// "Sep".
    package static func month(ofDay number: Int) -> String { months[GregorianDay.date(number).month - 1] }

    private func day(_ time: DateComponents) -> String {
        "\(time.day ?? 0) " + Self.months[(time.month ?? 1) - 1]
    }

    private func time(_ time: DateComponents) -> String {
        let minute = ":" + twoDigits(time.minute)
        guard isTwelveHour else { return twoDigits(time.hour) + minute }
        let hour = time.hour ?? 0
        return "\((hour + 11) % 12 + 1)" + minute + (hour < 12 ? " AM" : " PM")
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private func components(of date: Date) -> DateComponents {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar.dateComponents(
            [.year, .month, .day, .weekday, .hour, .minute],
            from: date.addingTimeInterval(TimeInterval(zone.secondsFromGMT(at: date))))
    }

    private func twoDigits(_ number: Int?) -> String {
        let text = String(number ?? 0)
        return text.utf8.count < 2 ? "0" + text : text
    }
}

extension ViewModel {
    package var times: TimeFormatter {
        TimeFormatter(now: now, zone: zone, isAbsolute: options.isAbsolute, isTwelveHour: options.isTwelveHour)
    }
}
