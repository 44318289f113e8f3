package import Essentials
import SnapshotModels

/// How a limit is expected to go on: from its last value, at its pace, until its reset.
package struct PlotForecast: Sendable, Equatable {
    package struct Point: Sendable, Equatable {
        package let date: Date
        package let percent: Double
    }

    /// The ends of straight lines, in the order of time; never falling, and the last one at the reset.
    package let points: [Point]

    package var reset: Date? { points.last?.date }

    /// At 100 % from when the pace runs out, else evenly on to the reset. Nil without a reset to come, and below the
    /// limit without a pace.
    package init?(of window: WindowState, observedAt: Date) {
        let used = min(max(window.window.usedPercent, 0), 100)
        guard !window.isExpired, let reset = window.window.resetsAt, reset > observedAt, !used.isNaN else { return nil }
        let start = Point(date: observedAt, percent: used)
        guard used < 100 else {
            points = [start, Point(date: reset, percent: 100)]
            return
        }
        guard let pace = window.pace else { return nil }
        guard let end = pace.runsOutAt else {
            // The user's hours may let last what would run out evenly.
            let even = used * 100 / max(pace.expectedPercent, Pace.leastExpectedPercent)
            points = [start, Point(date: reset, percent: min(max(even, used), 100))]
            return
        }
        points = [start, Point(date: end, percent: 100), Point(date: reset, percent: 100)]
    }

    /// Nil before the last value and after the reset.
    package func percent(at date: Date) -> Double? {
        zip(points, points.dropFirst()).first { $0.date <= date && date <= $1.date }.map { from, to in
            let length = to.date.timeIntervalSince(from.date)
            guard length > 0 else { return to.percent }
            return from.percent + (to.percent - from.percent) * date.timeIntervalSince(from.date) / length
        }
    }
}
