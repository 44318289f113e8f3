import Foundation
import TerminalText

/// Times relative to now, in English.
struct TimeFormatter {
    var now: Date
    /// The zone of clock times.
    var zone: TimeZone
    /// Clock times instead of countdowns and ages.
    var isAbsolute = false

    /// "12 min ago", or the clock time.
    func past(_ date: Date) -> String {
        isAbsolute ? clock(date) : DurationFormatter.age(of: date, at: now)
    }

    /// "in 1h 30m", or the clock time.
    func upcoming(_ date: Date) -> String {
        isAbsolute ? clock(date) : "in " + DurationFormatter.countdown(to: date, from: now)
    }

    /// "resets in 1h 30m", "resets 13:30", "reset 10 min ago", "reset at 13:30".
    func reset(_ date: Date) -> String {
        if date > now { return "resets " + upcoming(date) }
        return (isAbsolute ? "reset at " : "reset ") + past(date)
    }

    /// "ahead of pace · runs out in 50m", "under pace · lasts until reset".
    func pace(_ pace: Pace) -> String {
        let stage =
            switch pace.stage {
            case .farUnder: "well under pace"
            case .under: "under pace"
            case .slightlyUnder: "slightly under pace"
            case .onPace: "on pace"
            case .slightlyOver: "slightly ahead of pace"
            case .over: "ahead of pace"
            case .farOver: "well ahead of pace"
            }
        guard let end = pace.runsOutAt else { return stage + " · lasts until reset" }
        return stage
            + (end <= now
                ? " · may have run out"
                : " · runs out in " + DurationFormatter.countdown(to: end, from: now))
    }

    /// "13:30" today, "Mon 21 Sep 17:00" within half a year, else "21 Sep 2027".
    func clock(_ date: Date) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.calendar = calendar
        formatter.timeZone = zone
        formatter.dateFormat =
            if calendar.isDate(date, inSameDayAs: now) {
                "HH:mm"
            } else if abs(date.timeIntervalSince(now)) > 182 * 86_400 {
                "d MMM yyyy"
            } else {
                "E d MMM HH:mm"
            }
        return formatter.string(from: date)
    }
}

extension ViewModel {
    var times: TimeFormatter {
        TimeFormatter(now: now, zone: zone, isAbsolute: options.isAbsolute)
    }
}
