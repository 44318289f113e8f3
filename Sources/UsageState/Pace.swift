package import Essentials
package import SnapshotModels

/// How use compares with elapsed time, as of the observation.
///
/// Expected use is the elapsed part of the window in percent. A difference of up to 2 points is on pace, up to 6
/// slightly off, up to 12 off, beyond that far off.
package struct Pace: Sendable, Equatable, Codable {
    package enum Stage: String, Sendable, Codable {
        case farUnder, under, slightlyUnder, onPace, slightlyOver, over, farOver
    }

    package let stage: Stage
    /// Rounded to one decimal.
    package let expectedPercent: Double
    /// When the limit is reached at the average rate so far; nil if that is not before the reset.
    package let runsOutAt: Date?

    /// Below this expected percentage the pace is noise.
    package static let leastExpectedPercent = 3.0

    /// Nil without a length or a reset, early in the window, for an observation outside of it, and at the limit.
    package init?(of window: SyncRateWindow, observedAt: Date) {
        guard let minutes = window.windowMinutes, let resetsAt = window.resetsAt,
            (0..<100).contains(window.usedPercent)
        else { return nil }
        let duration = TimeInterval(minutes) * 60
        let elapsed = duration - resetsAt.timeIntervalSince(observedAt)
        guard elapsed > 0, elapsed <= duration else { return nil }
        let expected = elapsed / duration * 100
        guard expected >= Self.leastExpectedPercent else { return nil }
        expectedPercent = (expected * 10).rounded() / 10
        stage = Stage(difference: window.usedPercent - expected)
        // Infinite as long as nothing is used.
        let secondsLeft = (100 - window.usedPercent) / window.usedPercent * elapsed
        let end = observedAt.addingTimeInterval(secondsLeft)
        runsOutAt = end < resetsAt ? end : nil
    }
}

extension Pace.Stage {
    fileprivate init(difference points: Double) {
        let isOver = points > 0
        self =
            switch points.magnitude {
            case ...2: .onPace
            case ...6: isOver ? .slightlyOver : .slightlyUnder
            case ...12: isOver ? .over : .under
            default: isOver ? .farOver : .farUnder
            }
    }
}
