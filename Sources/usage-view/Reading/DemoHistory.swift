import Essentials
import SnapshotModels
import UsageState

/// The invented past of invented usage: somebody who works from Monday to Friday.
enum DemoHistory {
    private static let days = 36
    private static let workday = 9..<18
    /// What earlier windows came to, in turn.
    private static let results = [64.0, 110, 83, 57, 91]

    static func leading(to snapshot: SyncedUsageSnapshot, at now: Date) -> UsageHistory {
        var history = UsageHistory()
        let hour = Int(now.timeIntervalSince1970) / 3_600
        for halfHour in (hour - days * 24) * 2..<hour * 2 where isWorked(hour: halfHour / 2) {
            let time = Date(timeIntervalSince1970: Double(halfHour) * 1_800)
            let providers = snapshot.providers.map { provider in
                var card = provider
                card.lastUpdated = time
                card.rateWindows = provider.windows.map { past($0, at: time, now: now) }
                return card
            }
            history.add(providers, now: time)
        }
        history.add(snapshot.providers, now: now)
        return history
    }

    /// A window as it was: used evenly while there was work.
    private static func past(_ window: SyncRateWindow, at time: Date, now: Date) -> SyncRateWindow {
        guard let minutes = window.windowMinutes, let reset = window.resetsAt else { return window }
        let length = Double(minutes) * 60
        let age = (reset.timeIntervalSince(time) / length).rounded(.up) - 1
        let end = reset.addingTimeInterval(-age * length)
        let start = end.addingTimeInterval(-length)
        let result =
            age == 0
            ? window.usedPercent
            : results[(Int(age) + Int(window.usedPercent)) % results.count]
        let worked = workedHours(from: start, to: age == 0 ? now : end)
        var past = window
        past.resetsAt = end
        let part = worked == 0 ? 1 : workedHours(from: start, to: time) / worked
        past.usedPercent = min(100, result * part)
        return past
    }

    private static func workedHours(from start: Date, to end: Date) -> Double {
        let (first, last) = (start.timeIntervalSince1970 / 3_600, end.timeIntervalSince1970 / 3_600)
        return (Int(first)...max(Int(first), Int(last))).reduce(0) { sum, hour in
            guard isWorked(hour: hour) else { return sum }
            return sum + max(0, min(last, Double(hour + 1)) - max(first, Double(hour)))
        }
    }

    /// - Parameter hour: since 1970, a Thursday.
    private static func isWorked(hour: Int) -> Bool { (hour / 24 + 3) % 7 < 5 && workday.contains(hour % 24) }
}

/// The invented year of invented usage: more from month to month, less on weekends, nothing on holiday.
enum DemoYear {
    private static let holiday = 118..<133

    static func leading(to now: Date) -> UsageYear {
        let today = Int(now.timeIntervalSince1970) / 86_400
        let days = (0..<365).map { ago in
            let activity = activity(day: today - ago, ago: ago)
            return (today - ago, (dollars: 7.85 * activity, tokens: Int(3_200_000 * activity)))
        }
        return UsageYear(days: Dictionary(uniqueKeysWithValues: days), at: now)
    }

    /// How much is used on a day beside a usual one.
    ///
    /// - Parameters:
    ///   - day: since 1970.
    ///   - ago: days from then to now.
    static func activity(day: Int, ago: Int) -> Double {
        let luck = Double((day * 37 + day * day * 11) % 97) / 97
        guard !holiday.contains(ago) else { return 0 }
        let isWeekend = GregorianDay.weekday(day) >= 5
        return (0.3 + 1.4 * luck) * (isWeekend ? (luck < 0.5 ? 0 : 0.3) : 1) * (1 - Double(ago) / 600)
    }
}
