import Essentials
import UsageState

/// What a series says in each of the columns that a time is divided into.
struct PlotColumns {
    struct Value: Equatable {
        /// The most that was used.
        var used: Double
        /// Nothing was observed here, but so shortly before and after that the value is taken to have stayed.
        var isJoined: Bool
    }

    /// Nil where nothing is known.
    private(set) var values: [Value?]

    private let start: Date
    private let end: Date

    /// A gap as long as so many samples is joined.
    private static let joinedSamples = 3.0

    init(_ series: PlotSeries, count: Int, from start: Date, to end: Date) {
        values = Array(repeating: nil, count: max(0, count))
        (self.start, self.end) = (start, end)
        guard count > 0, end > start else { return }
        let samples = series.samples
        for (index, sample) in samples.enumerated() {
            guard let used = sample.used else { continue }
            guard index + 1 < samples.count else {
                fill(sample.date, sample.date, Value(used: used, isJoined: false))
                break
            }
            let next = samples[index + 1]
            // The value holds until the next one.
            fill(sample.date, next.date, Value(used: used, isJoined: false))
            guard next.used == nil, let later = samples[(index + 1)...].first(where: { $0.used != nil }) else {
                continue
            }
            let length = next.date.timeIntervalSince(sample.date)
            if later.date.timeIntervalSince(next.date) <= length * Self.joinedSamples {
                fill(next.date, later.date, Value(used: used, isJoined: true))
            }
        }
    }

    /// The column of a time; nil outside of what is drawn.
    func column(of date: Date) -> Int? {
        let position = position(of: date)
        guard position >= 0, position <= Double(values.count) else { return nil }
        return min(values.count - 1, Int(position))
    }

    private func position(of date: Date) -> Double {
        date.timeIntervalSince(start) / end.timeIntervalSince(start) * Double(values.count)
    }

    private mutating func fill(_ from: Date, _ to: Date, _ value: Value) {
        guard to >= start, from <= end else { return }
        let first = min(values.count - 1, Int(max(0, position(of: from))))
        let last = Int(min(Double(values.count), position(of: to)).rounded(.up)) - 1
        for column in first...max(first, last) {
            guard let known = values[column], known.isJoined == value.isJoined else {
                if values[column]?.isJoined ?? true { values[column] = value }
                continue
            }
            values[column]?.used = max(known.used, value.used)
        }
    }
}

extension PlotSeries.Sample {
    /// The percentage if it is a number.
    var used: Double? { percent.flatMap { $0.isFinite ? $0 : nil } }
}
