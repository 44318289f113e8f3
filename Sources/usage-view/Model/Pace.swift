import Foundation
import SnapshotModels

/// Whether use is faster than time, as of the observation.
///
/// Expected use is the elapsed part of the window in percent. The difference to the used percent
/// is within 2 points on pace, within 6 slightly off, within 12 off, beyond that far off.
struct Pace: Sendable, Equatable {
    enum Stage: String, Sendable, Codable {
        case farUnder, under, slightlyUnder, onPace, slightlyOver, over, farOver
    }

    let stage: Stage
    let expectedPercent: Double
    /// When the limit is reached at the average speed so far; nil when it lasts until the reset.
    let runsOutAt: Date?

    /// Below this expected percent a pace is noise.
    static let leastExpectedPercent = 3.0

    /// nil without a length or a reset, early in the window, when the observation lies outside of
    /// it, and at the limit.
    init?(of window: SyncRateWindow, observedAt: Date) {
        guard let minutes = window.windowMinutes, let resetsAt = window.resetsAt,
            (0..<100).contains(window.usedPercent)
        else { return nil }
        let duration = TimeInterval(minutes) * 60
        let elapsed = duration - resetsAt.timeIntervalSince(observedAt)
        guard elapsed > 0, elapsed <= duration else { return nil }
        expectedPercent = elapsed / duration * 100
        guard expectedPercent >= Self.leastExpectedPercent else { return nil }
        stage = Self.stage(ofDifference: window.usedPercent - expectedPercent)
        guard window.usedPercent > 0 else {
            runsOutAt = nil
            return
        }
        let secondsLeft = (100 - window.usedPercent) / window.usedPercent * elapsed
        let end = observedAt.addingTimeInterval(secondsLeft)
        runsOutAt = end < resetsAt ? end : nil
    }

    private static func stage(ofDifference points: Double) -> Stage {
        let isOver = points > 0
        return switch points.magnitude {
        case ...2: .onPace
        case ...6: isOver ? .slightlyOver : .slightlyUnder
        case ...12: isOver ? .over : .under
        default: isOver ? .farOver : .farUnder
        }
    }
}
