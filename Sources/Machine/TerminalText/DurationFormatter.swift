package import Essentials

/// Durations as short text, relative to a time that the caller gives.
package enum DurationFormatter {
    /// The time until `date`, rounded up to the minute, in at most two nonzero units: "7m", "1h 30m", "2d 3h".
    /// "now" when `date` is not in the future.
    package static func countdown(to date: Date, from now: Date) -> String {
        let seconds = date.timeIntervalSince(now)
        guard seconds > 0 else { return "now" }
        let minutes = wholeMinutes(seconds, .up)
        let (days, hours) = (minutes / 1_440, minutes / 60 % 24)
        if days > 0 { return hours > 0 ? "\(days)d \(hours)h" : "\(days)d" }
        if hours > 0 { return minutes % 60 > 0 ? "\(hours)h \(minutes % 60)m" : "\(hours)h" }
        return "\(minutes)m"
    }

    /// The time since `date`, rounded down: "just now" under a minute, then "12 min ago", "3 h ago", "2 d ago".
    /// A future date is also "just now".
    package static func age(of date: Date, at now: Date) -> String {
        let seconds = now.timeIntervalSince(date)
        guard seconds >= 60 else { return "just now" }
        let minutes = wholeMinutes(seconds, .down)
        if minutes < 60 { return "\(minutes) min ago" }
        if minutes < 2_880 { return "\(minutes / 60) h ago" }
        return "\(minutes / 1_440) d ago"
    }

    /// When `countdown` says something else; nil if it never does.
    package static func nextCountdown(to date: Date, from now: Date) -> Date? {
        let seconds = date.timeIntervalSince(now)
        guard seconds > 0 else { return nil }
        let minutes = wholeMinutes(seconds, .up)
        // Days are shown with hours alone.
        let shown = minutes < 1_440 ? minutes : minutes / 60 * 60
        return date.addingTimeInterval(TimeInterval(1 - shown) * 60)
    }

    /// When `age` says something else.
    package static func nextAge(of date: Date, at now: Date) -> Date {
        let minutes = wholeMinutes(max(0, now.timeIntervalSince(date)), .down)
        let unit = minutes < 60 ? 1 : minutes < 2_880 ? 60 : 1_440
        return date.addingTimeInterval(TimeInterval((minutes / unit + 1) * unit) * 60)
    }

    /// A length in its largest whole unit: 300 → "5h", 10 080 → "7d", 45 → "45m", 1 500 → "25h".
    package static func length(minutes: Int) -> String {
        if minutes >= 1_440, minutes % 1_440 == 0 { return "\(minutes / 1_440)d" }
        if minutes >= 60, minutes % 60 == 0 { return "\(minutes / 60)h" }
        return "\(minutes)m"
    }

    /// Bounded, because a date from outside may be any number.
    private static func wholeMinutes(_ seconds: TimeInterval, _ rule: FloatingPointRoundingRule) -> Int {
        Int(min((seconds / 60).rounded(rule), 1e12))
    }
}
