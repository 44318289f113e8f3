import ClockZones
import Essentials

/// A used-up limit, as Claude Code phrases it:
///
///     You've hit your weekly limit · resets Sep 15, 2am (Europe/Madrid)
///     You've hit your limit · resets 5pm (Europe/Madrid)
///     You've hit your monthly spend limit · … · your session limit resets 5pm (Europe/Madrid)
///     Opus weekly limit reached ∙ resets Sep 15 at 2am (Europe/Madrid)
///     Claude usage limit reached. Your limit will reset at 5pm (Europe/Madrid).
///
/// The first phrasing is current; `docs/log-shapes.md` says where each was seen. A limit without a name is identified
/// by the time to its reset. Ambiguous texts are ignored: a time without a zone; and a limit with neither name nor date
/// that resets in more than five hours, since Claude Code repeats the text after the reset.
struct ClaudeLimitNotice {
    private static let byteLimit = 400
    private static let models: Set<String> = ["opus", "sonnet", "haiku", "fable"]
    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]
    /// Seconds after a reset in which a text is assumed to be a repetition that names the past one.
    private static let lag: TimeInterval = 900

    var window: ClaudeWindow
    var resetsAt: Date

    /// Nil for any other text, and for a reset that has passed.
    ///
    /// - Parameter at: when the text was written; the reset is the next such time.
    init?(_ text: String, at: Date) {
        guard text.utf8.count <= Self.byteLimit,
            let match = text.firstMatch(
                of:
                    /(?i)(?:^|[·∙•\n])(?<limit>[a-z0-9 .'’-]{0,48}?)limit(?: reached)?\W{1,4}(?:resets|your limit will reset at)\s+(?<time>[^()]{1,40}?)\s*\((?<zone>[a-z0-9_+\/-]{1,64})\)/
            ),
            // A zone that this machine does not know is like none.
            let zone = try? ClockZone.named(String(match.zone)),
            let time = Self.components(match.time.lowercased()),
            let reset = Self.next(time, in: zone, after: at - Self.lag), reset > at,
            let window = Self.window(
                named: match.limit, isDated: time.day != nil, resetAfter: reset.timeIntervalSince(at))
        else { return nil }
        self.window = window
        resetsAt = reset
    }

    /// "Fable" in "You've reached your Fable 5 limit".
    static func model(in text: String) -> String? {
        text.firstMatch(of: /(?i)(?:hit|reached) your (?<model>[a-z]+)(?: [0-9.]+)? limit/)
            .flatMap { models.contains($0.model.lowercased()) ? $0.model.capitalized : nil }
    }

    /// - Parameter name: the text before "limit".
    private static func window(
        named name: Substring, isDated: Bool, resetAfter seconds: TimeInterval
    ) -> ClaudeWindow? {
        let bySeconds = ClaudeWindow(resetAfter: seconds)
        var window: ClaudeWindow?
        for word in name.lowercased().split(separator: " ") {
            switch word {
            case "you've", "you’ve", "hit", "your", "claude", "ai", "usage": continue
            case "session", "5-hour", "five-hour": window = .session
            case "weekly": window = window ?? .weekly
            case _ where models.contains(String(word)):
                window = ClaudeWindow(kind: .weekly, scope: word.capitalized)
            default: return nil
            }
        }
        // The reset of a session is never further away than the session is long.
        if window == .session || (window == nil && !isDated) {
            return bySeconds == .session ? .session : nil
        }
        return window ?? bySeconds
    }

    /// The next time after another at which clocks show this one.
    private static func next(_ time: DateComponents, in zone: ClockZone, after start: Date) -> Date? {
        let start = start.timeIntervalSince1970
        let today = GregorianDay.quotient(Int(start) + zone.secondsFromGMT(at: Int(start)), 86_400)
        let seconds = (time.hour ?? 0) * 3_600 + (time.minute ?? 0) * 60
        var days = Array(today...today + 2)
        if let month = time.month, let day = time.day {
            let year = GregorianDay.date(today).year
            // February 29 may be eight years away.
            let years = time.year.map { $0...$0 } ?? year...year + 8
            days = years.compactMap { GregorianDay.number(year: $0, month: month, day: day) }
        }
        return days.lazy.map { zone.seconds(ofClocksShowing: $0 * 86_400 + seconds) }
            .first { Double($0) > start }.map { Date(timeIntervalSince1970: Double($0)) }
    }

    /// "5:40pm", "2 AM", "Sep 15, 2am", "Sep 15 at 2:30am", "Sep 15, 2026, 2am"; in lower case.
    private static func components(_ text: String) -> DateComponents? {
        guard
            let match = text.wholeMatch(
                of:
                    /(?:(?<month>[a-z]{3})[a-z]*\.? (?<day>\d{1,2})(?:, (?<year>20\d{2}))?(?:,| at|, at)? )?(?<hour>\d{1,2})(?::(?<minute>\d{2}))?\s?(?<half>am|pm)/
            ),
            let hour = Int(match.hour), (1...12).contains(hour)
        else { return nil }
        var components = DateComponents()
        components.hour = hour % 12 + (match.half == "pm" ? 12 : 0)
        components.minute = match.minute.flatMap { Int($0) } ?? 0
        components.second = 0
        if let month = match.month, let day = match.day.flatMap({ Int($0) }) {
            guard let index = months.firstIndex(of: String(month)), (1...31).contains(day) else { return nil }
            components.month = index + 1
            components.day = day
            components.year = match.year.flatMap { Int($0) }
        }
        return components
    }
}
