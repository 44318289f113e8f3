import Essentials

/// A request rejected because of a rate limit, as a transcript records it: the limit is used up until its reset.
///
/// Three forms are read: `quotaLimits` with the limit's name and reset; without these, the text
/// (`ClaudeLimitNotice`); and the oldest text, ending in "limit reached|<unix time>". All other rejections are about
/// credits or spending, which have no window.
enum ClaudeRejection {
    static let needles = [
        ByteNeedle("\"rate_limit\""), ByteNeedle("\"quotaLimits\""),
        ByteNeedle("limit reached|"), ByteNeedle("isApiErrorMessage"),
    ]
    /// The model of Claude Code's own messages; others may quote anything.
    private static let ownModel = "<synthetic>"

    /// Nil when the line is no rejection.
    static func reading(line: Data, origin: LimitReading.Origin) -> LimitReading? {
        guard let row = JSONFields(line: line), let at = row.date("timestamp") else { return nil }
        let message = row.fields("message")
        guard row.flag("isApiErrorMessage") == true || message?.text("model") == ownModel else { return nil }
        let texts =
            ([message?.text("content")]
            + (message?.list("content") ?? []).map { $0.text("text") }).compactMap { $0 }
        if let limits = row.fields("quotaLimits") ?? message?.fields("quotaLimits") {
            if let status = limits.text("status"), status != "rejected" { return nil }
            if let window = window(of: limits, texts), let reset = limits.date("resetsAt", "resets_at") {
                return reading(window, reset: reset, at: at, origin)
            }
        }
        for text in texts {
            if let reset = unixReset(in: text) {
                let window = ClaudeWindow(resetAfter: reset.timeIntervalSince(at))
                return reading(window, reset: reset, at: at, origin)
            }
            if let notice = ClaudeLimitNotice(text, at: at) {
                return reading(notice.window, reset: notice.resetsAt, at: at, origin)
            }
        }
        return nil
    }

    /// `seven_day_overage_included` is a weekly limit of the model in the text.
    private static func window(of limits: JSONFields, _ texts: [String]) -> ClaudeWindow? {
        guard let name = limits.text("rateLimitType") else { return nil }
        if let window = ClaudeWindow(name: name, fields: limits) { return window }
        let model = texts.lazy.compactMap(ClaudeLimitNotice.model(in:)).first
        return name.hasPrefix("seven_day_") ? model.map { ClaudeWindow(kind: .weekly, scope: $0) } : nil
    }

    private static func reading(
        _ window: ClaudeWindow, reset: Date, at: Date, _ origin: LimitReading.Origin
    ) -> LimitReading? {
        var reading = window.reading(100, resetsAt: reset, observedAt: at, origin: origin)
        reading?.isRejection = true
        return reading
    }

    private static func unixReset(in text: String) -> Date? {
        guard let mark = text.firstRange(of: "limit reached|") else { return nil }
        let digits = text[mark.upperBound...].prefix { $0.isASCII && $0.isNumber }
        guard (9...13).contains(digits.count), let time = Double(digits) else { return nil }
        return JSONFields.date(unixTime: time)
    }
}
