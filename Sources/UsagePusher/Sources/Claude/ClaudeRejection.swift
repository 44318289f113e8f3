import Foundation

/// A request rejected because of a rate limit, as a transcript records it: the limit is used up until its reset.
///
/// Three forms are read: `quotaLimits` with the limit's name and reset (a rejection without it is about credits, not about
/// a window), the text before that ("You've hit your session limit · resets 5:40pm (Europe/Madrid)"), and the oldest text,
/// ending in "limit reached|<unix time>".
enum ClaudeRejection {
    static let needles = [
        ByteNeedle("\"rate_limit\""), ByteNeedle("\"quotaLimits\""),
        ByteNeedle("limit reached|"), ByteNeedle("isApiErrorMessage"),
    ]
    /// The model of Claude Code's own messages; others may quote anything.
    private static let ownModel = "<synthetic>"

    /// Nil when the line is no rejection.
    static func reading(line: Data, origin: LimitReading.Origin) -> LimitReading? {
        guard let row = JSONFields(line), let at = row.date("timestamp") else { return nil }
        let message = row.fields("message")
        guard row.flag("isApiErrorMessage") == true || message?.text("model") == ownModel
        else { return nil }
        if let limits = row.fields("quotaLimits") ?? message?.fields("quotaLimits") {
            guard limits.text("status") == "rejected",
                let name = limits.text("rateLimitType"),
                let window = ClaudeWindow(name: name, fields: limits),
                let reset = limits.date("resetsAt", "resets_at")
            else { return nil }
            return reading(window, reset: reset, at: at, origin)
        }
        let texts =
            [message?.text("content")] + (message?.list("content") ?? []).map { $0.text("text") }
        for text in texts.compactMap({ $0 }) {
            if let reset = unixReset(in: text) {
                let sessionLength = WindowKind.session.seconds + 600
                let isSession = reset.timeIntervalSince(at) <= sessionLength
                return reading(isSession ? .session : .weekly, reset: reset, at: at, origin)
            }
            if let notice = ClaudeLimitNotice(text, at: at) {
                return reading(notice.window, reset: notice.resetsAt, at: at, origin)
            }
        }
        return nil
    }

    private static func reading(
        _ window: ClaudeWindow, reset: Date, at: Date, _ origin: LimitReading.Origin
    ) -> LimitReading? {
        var reading = window.reading(100, resetsAt: reset, observedAt: at, origin: origin)
        reading?.isRejection = true
        return reading
    }

    private static func unixReset(in text: String) -> Date? {
        guard let mark = text.range(of: "limit reached|") else { return nil }
        let digits = text[mark.upperBound...].prefix { $0.isASCII && $0.isNumber }
        guard (9...13).contains(digits.count), let time = Double(digits) else { return nil }
        return JSONFields.date(unixTime: time)
    }
}

/// The words in which Claude Code before 2.1.260 says that a limit is used up:
/// "You've hit your weekly limit · resets Sep 15, 2am (Europe/Madrid)".
struct ClaudeLimitNotice {
    private static let byteLimit = 400
    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    var window: ClaudeWindow
    var resetsAt: Date

    /// Nil for other words, and without a zone: the time could be anyone's.
    init?(_ text: String, at: Date) {
        guard text.utf8.count <= Self.byteLimit,
            let match = text.lowercased().firstMatch(
                of:
                    /hit your (?<limit>[a-z0-9-]+) limit\s+\S{1,3}\s+resets\s+(?<time>[^()]{1,40}?)\s*\((?<zone>[a-z0-9_+\/-]{1,64})\)/
            ),
            let zone = Self.zone(named: String(match.zone)),
            let time = Self.components(String(match.time))
        else { return nil }
        switch match.limit {
        case "session", "5-hour", "five-hour": window = .session
        case "weekly": window = .weekly
        case "opus", "sonnet", "haiku", "fable":
            window = ClaudeWindow(kind: .weekly, scope: match.limit.capitalized)
        default: return nil
        }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        guard
            let reset = calendar.nextDate(
                after: at, matching: time, matchingPolicy: .nextTime, direction: .forward)
        else { return nil }
        resetsAt = reset
    }

    /// The names of zones are case-sensitive; the text is in lower case.
    private static func zone(named name: String) -> TimeZone? {
        if name == "utc" || name == "gmt" { return .gmt }
        return TimeZone.knownTimeZoneIdentifiers.first { $0.lowercased() == name }
            .flatMap { TimeZone(identifier: $0) }
    }

    /// "5:40pm", "2am", "sep 15, 2am", "sep 15 at 2:30am".
    private static func components(_ text: String) -> DateComponents? {
        guard
            let match = text.wholeMatch(
                of:
                    /(?:(?<month>[a-z]{3})[a-z]*\.? (?<day>\d{1,2})(?:,| at|, at)? )?(?<hour>\d{1,2})(?::(?<minute>\d{2}))?\s?(?<half>am|pm)/
            ),
            let hour = Int(match.hour), (1...12).contains(hour)
        else { return nil }
        var components = DateComponents()
        components.hour = hour % 12 + (match.half == "pm" ? 12 : 0)
        components.minute = match.minute.flatMap { Int($0) } ?? 0
        components.second = 0
        if let month = match.month, let day = match.day.flatMap({ Int($0) }) {
            guard let index = months.firstIndex(of: String(month)), (1...31).contains(day) else {
                return nil
            }
            components.month = index + 1
            components.day = day
        }
        return components
    }
}
