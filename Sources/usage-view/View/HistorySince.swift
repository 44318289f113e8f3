import ClockZones
import Essentials
import UsageState

/// From when on the past is shown: hours or days until now, or a day.
enum HistorySince: Equatable {
    case ago(seconds: Int)
    case day(DateComponents)

    private static let days = 90

    /// "24h", "7d", "2026-11-01"; nil for anything else, and for more than 90 days.
    init?(_ text: String) {
        if let match = text.wholeMatch(of: /([0-9]{1,4})([hd])/), let count = Int(match.1) {
            let seconds = count * (match.2 == "h" ? 3_600 : 86_400)
            guard (1...Self.days * 86_400).contains(seconds) else { return nil }
            self = .ago(seconds: seconds)
            return
        }
        guard let match = text.wholeMatch(of: /([0-9]{4})-([0-9]{2})-([0-9]{2})/) else { return nil }
        let day = DateComponents(year: Int(match.1), month: Int(match.2), day: Int(match.3))
        guard let midnight = Self.calendar.date(from: day),
            Self.calendar.dateComponents([.year, .month, .day], from: midnight) == day
        else { return nil }
        self = .day(day)
    }

    private static var calendar: Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }

    /// The start; a day begins in the zone. Nil if it is not before now. Not more than 90 days ago, as far back as
    /// there is anything.
    func date(now: Date, zone: ClockZone) -> Date? {
        switch self {
        case .ago(let seconds): return now.addingTimeInterval(-Double(seconds))
        case .day(let day):
            guard let midnight = Self.calendar.date(from: day) else { return nil }
            let date = midnight.addingTimeInterval(-Double(zone.secondsFromGMT(at: midnight)))
            return date < now ? max(date, now.addingTimeInterval(-Double(Self.days) * 86_400)) : nil
        }
    }
}
