import Foundation

/// Clock times in the viewer's zone, in English and 24 hours like everything else here.
struct ClockText {
    private let calendar: Calendar
    private let now: Date

    init(zone: TimeZone, now: Date) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        self.calendar = calendar
        self.now = now
    }

    /// "13:30" today, "Mon 21 Sep 17:00" within half a year, else "21 Sep 2027".
    func text(_ date: Date) -> String {
        let parts = calendar.dateComponents(
            [.year, .month, .day, .hour, .minute, .weekday], from: date)
        let time = "\(Self.twoDigits(parts.hour)):\(Self.twoDigits(parts.minute))"
        if calendar.isDate(date, inSameDayAs: now) { return time }
        let day = "\(parts.day ?? 1) \(Self.months[((parts.month ?? 1) - 1) % 12])"
        if abs(date.timeIntervalSince(now)) > 182 * 86_400 { return "\(day) \(parts.year ?? 0)" }
        return "\(Self.weekdays[((parts.weekday ?? 1) - 1) % 7]) \(day) \(time)"
    }

    private static func twoDigits(_ number: Int?) -> String {
        let number = number ?? 0
        return number < 10 ? "0\(number)" : "\(number)"
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
