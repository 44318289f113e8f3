/// What a model costs in certain hours of the week, for prompts of any length.
package struct OffPeak: Sendable, Hashable {
    package let rates: ModelPrice.Rates
    /// As a list of prices states them: "1-5 10:00-24:00, 6-7 00:00-24:00" are days from Monday, 1, to Sunday, 7, and
    /// times from and to, the end not included, both in UTC.
    package let hours: String
    /// Minutes since Monday 00:00 in UTC.
    private let minutes: [Range<Int>]

    private static let hoursByteLimit = 256
    private static let dayMinutes = 1_440

    /// Nil for what is not `hours`.
    init?(rates: ModelPrice.Rates, hours: String) {
        guard hours.utf8.count <= Self.hoursByteLimit else { return nil }
        var minutes: [Range<Int>] = []
        for part in hours.split(separator: ", ", omittingEmptySubsequences: false) {
            let form = /([1-7])(?:-([1-7]))? ([0-9]{2}):([0-5][0-9])-([0-9]{2}):([0-5][0-9])/
            guard let match = part.wholeMatch(of: form) else { return nil }
            func number(_ text: Substring) -> Int { Int(text) ?? 0 }
            let (first, last) = (number(match.1), number(match.2 ?? match.1))
            let (start, end) = (number(match.3) * 60 + number(match.4), number(match.5) * 60 + number(match.6))
            guard first <= last, start < end, end <= Self.dayMinutes else { return nil }
            for day in first...last {
                let midnight = (day - 1) * Self.dayMinutes
                minutes.append(midnight + start..<midnight + end)
            }
        }
        (self.rates, self.hours, self.minutes) = (rates, hours, minutes)
    }

    /// - Parameter time: milliseconds since 1970, which began on a Thursday.
    func includes(_ time: Int64) -> Bool {
        let minute = Int(time / 60_000 + 3 * 1_440) % (7 * Self.dayMinutes)
        return minutes.contains { $0.contains(minute) }
    }
}
