package import Essentials

/// A part of every day, by the clock on the wall, in which nothing is delivered.
package struct QuietHours: Sendable, Equatable {
    /// Minutes since midnight, 0 to 1,439. An end before the start is on the next day.
    package let start: Int
    package let end: Int

    /// Nil if a minute is not one of a day, or both are the same.
    package init?(start: Int, end: Int) {
        guard (0..<1_440).contains(start), (0..<1_440).contains(end), start != end else { return nil }
        self.start = start
        self.end = end
    }

    /// "22:00-07:30".
    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let start = Self.minute(parts[0]), let end = Self.minute(parts[1]) else { return nil }
        self.init(start: start, end: end)
    }

    package var text: String { Self.clock(start) + "-" + Self.clock(end) }

    /// - Parameter offset: seconds east of UTC at a time.
    package func contains(_ date: Date, offset: (Date) -> Int) -> Bool {
        contains(minute: Self.minute(of: date, offset))
    }

    /// When the quiet hours around `date` end, at most 26 hours later; `date` itself outside of them.
    ///
    /// Clocks that are set forward or back in between are followed: they end when the clock on the wall first shows a
    /// time outside of them.
    ///
    /// - Parameter offset: seconds east of UTC at a time.
    package func end(after date: Date, offset: (Date) -> Int) -> Date {
        guard contains(date, offset: offset) else { return date }
        // Whole minutes of UTC are whole minutes of every zone in use.
        let first = (date.timeIntervalSince1970 / 60).rounded(.down) * 60
        for minute in 1...1_560 {
            let candidate = Date(timeIntervalSince1970: first + Double(minute) * 60)
            if !contains(candidate, offset: offset) { return candidate }
        }
        return date.addingTimeInterval(26 * 3_600)
    }

    private func contains(minute: Int) -> Bool {
        start < end ? (start..<end).contains(minute) : minute >= start || minute < end
    }

    private static func minute(of date: Date, _ offset: (Date) -> Int) -> Int {
        let bounded = min(max(date.timeIntervalSince1970, -1e11), 1e12)
        let local = Int((bounded / 60).rounded(.down)) + offset(date) / 60
        return ((local % 1_440) + 1_440) % 1_440
    }

    private static func minute(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ (1...2).contains($0.utf8.count) }),
            parts[1].utf8.count == 2, let hour = UInt8(parts[0]), let minute = UInt8(parts[1]),
            hour < 24, minute < 60, parts.allSatisfy({ !$0.hasPrefix("+") })
        else { return nil }
        return Int(hour) * 60 + Int(minute)
    }

    private static func clock(_ minute: Int) -> String {
        func digits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return digits(minute / 60) + ":" + digits(minute % 60)
    }
}

extension QuietHours: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let hours = QuietHours(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not like 22:00-07:30")
        }
        self = hours
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
