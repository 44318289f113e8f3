import Foundation

/// Dates as ISO 8601 text in UTC, with milliseconds where there are any.
enum DateText {
    static func text(_ date: Date) -> String {
        guard abs(date.timeIntervalSinceReferenceDate) < outermost else {
            return "\(date.timeIntervalSinceReferenceDate) s since 2001-01-01T00:00:00Z"
        }
        let isWhole =
            date.timeIntervalSinceReferenceDate.rounded() == date.timeIntervalSinceReferenceDate
        return date.formatted(isWhole ? whole : fractional)
    }

    /// The text when reading it gives the very same date, else nil.
    static func exactText(_ date: Date) -> String? {
        let text = text(date)
        return self.date(text) == date ? text : nil
    }

    /// Reads a date with a time and a zone, with or without fraction, or a day alone, which starts
    /// at midnight UTC.
    static func date(_ text: String) -> Date? {
        if text.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}/) != nil {
            return try? Date(text, strategy: Date.ISO8601FormatStyle().year().month().day())
        }
        // The strategies stop where they have read enough; a zone at the very end makes it everything.
        guard text.utf8.count <= 40, endsWithZone(text) else { return nil }
        return (try? Date(text, strategy: whole)) ?? (try? Date(text, strategy: fractional))
    }

    private static func endsWithZone(_ text: String) -> Bool {
        text.wholeMatch(of: /[-0-9]+T[0-9:.]+(Z|[-+][0-9]{2}:?[0-9]{2})/) != nil
    }

    /// About the years 0 to 9999, which have four digits.
    private static let outermost = 63_000_000_000.0
    private static let whole = Date.ISO8601FormatStyle()
    private static let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
}
