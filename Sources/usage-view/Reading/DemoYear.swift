import Essentials
import UsageState

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
