import Foundation

/// A request rejected because of a rate limit, as a transcript records it: the limit is used up
/// until its reset.
///
/// Two forms are read: `quotaLimits` with the limit's name and reset (a rejection without it is
/// about credits, not about a window), and the older text ending in "limit reached|<unix time>".
struct ClaudeRejection: Sendable {
    static let needles = [
        ByteNeedle("\"rate_limit\""), ByteNeedle("\"quotaLimits\""), ByteNeedle("limit reached|"),
    ]
    /// The model of Claude Code's own messages; others may quote anything.
    private static let ownModel = "<synthetic>"

    var window: ClaudeWindow
    var reading: WindowReading

    init?(line: Data) {
        guard let row = JSONFields(line), let at = row.date("timestamp") else { return nil }
        let message = row.fields("message")
        guard row.flag("isApiErrorMessage") == true || message?.text("model") == Self.ownModel
        else { return nil }
        if let limits = row.fields("quotaLimits") ?? message?.fields("quotaLimits") {
            guard limits.text("status") == "rejected",
                let window = limits.text("rateLimitType").flatMap(ClaudeWindow.init(name:)),
                let reset = limits.date("resetsAt", "resets_at")
            else { return nil }
            self.init(window, reset: reset, at: at)
            return
        }
        let texts =
            [message?.text("content")] + (message?.list("content") ?? []).map { $0.text("text") }
        guard let reset = texts.lazy.compactMap({ $0 }).compactMap(Self.reset(inText:)).first else {
            return nil
        }
        let sessionLength = TimeInterval(WindowKind.sessionMinutes * 60) + 600
        self.init(
            reset.timeIntervalSince(at) <= sessionLength ? .session : .weekly, reset: reset, at: at)
    }

    private init?(_ window: ClaudeWindow, reset: Date, at: Date) {
        guard let reading = WindowReading(usedPercent: 100, resetsAt: reset, observedAt: at) else {
            return nil
        }
        self.window = window
        self.reading = reading
    }

    private static func reset(inText text: String) -> Date? {
        guard let mark = text.range(of: "limit reached|") else { return nil }
        let digits = text[mark.upperBound...].prefix { $0.isASCII && $0.isNumber }
        guard (9...13).contains(digits.count), let time = Double(digits) else { return nil }
        return JSONFields.date(unixTime: time)
    }
}
