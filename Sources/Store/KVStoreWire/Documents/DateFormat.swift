package import Essentials

/// Dates as ISO 8601 text in UTC, with milliseconds if there are any.
package enum DateFormat {
    package static func text(_ date: Date) -> String {
        let seconds = date.timeIntervalSinceReferenceDate
        // Years have four digits.
        guard abs(seconds) < 63_000_000_000 else {
            return "\(seconds)\(sinceReference)"
        }
        return date.formatted(seconds.rounded() == seconds ? whole : fractional)
    }

    /// The text if parsing it returns the same date, else nil.
    package static func exactText(_ date: Date) -> String? {
        let text = text(date)
        return self.date(text) == date ? text : nil
    }

    private static let sinceReference = " s since 2001-01-01T00:00:00Z"

    /// Parses a date with time and zone, with or without a fraction, a day, which is midnight UTC, or what `text`
    /// returns.
    package static func date(_ text: String) -> Date? {
        if text.hasSuffix(sinceReference) {
            return Double(text.dropLast(sinceReference.count)).flatMap { seconds in
                seconds.isFinite ? Date(timeIntervalSinceReferenceDate: seconds) : nil
            }
        }
        // The strategies take 30 February for 2 March.
        if let day = text.prefixMatch(of: /([0-9]{4})-([0-9]{2})-([0-9]{2})/)?.output {
            let parts = [day.1, day.2, day.3].compactMap { Int($0) }
            guard GregorianDay.number(year: parts[0], month: parts[1], day: parts[2]) != nil else { return nil }
        }
        if text.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}/) != nil {
            return try? Date(text, strategy: Date.ISO8601FormatStyle().year().month().day())  // nil: no date
        }
        // The strategies ignore trailing text, so the zone has to be at the very end.
        guard text.utf8.count <= 40,
            text.wholeMatch(
                of: /[-0-9]+T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?(Z|[-+][0-9]{2}:?[0-9]{2})/) != nil
        else { return nil }
        return (try? Date(text, strategy: whole)) ?? (try? Date(text, strategy: fractional))  // nil: no date
    }

    private static let whole = Date.ISO8601FormatStyle()
    private static let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
}
