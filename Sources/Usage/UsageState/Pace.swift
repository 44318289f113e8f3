package import ClockZones
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
    /// When the limit is reached; nil if that is not before the reset. By the average rate so far, or by the user's own
    /// hours if `basis` is there.
    package let runsOutAt: Date?
    /// What the user's hours were learned from; nil without three complete earlier windows.
    package let basis: Basis?

    /// The user's last windows.
    package struct Basis: Sendable, Equatable, Codable {
        package enum Unit: String, Sendable, Codable {
            case sessions, days, weeks, windows

            init(minutes: Int) {
                self =
                    switch minutes {
                    case ...360: .sessions
                    case 1_440: .days
                    case 10_080: .weeks
                    default: .windows
                    }
            }
        }

        package var count: Int
        package var unit: Unit
    }

    /// Below this expected percentage the pace is noise.
    package static let leastExpectedPercent = 3.0

    /// Nil without a length or a reset, early in the window, for an observation outside of it, and at the limit.
    ///
    /// - Parameter zone: that of the user's hours.
    package init?(
        of window: SyncRateWindow, observedAt: Date, history: WindowHistory? = nil, zone: ClockZone = .local
    ) {
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
        let reset = resetsAt.unixSeconds
        let length = min(minutes, SlotTrack.coarse.span / 60) * 60
        let start = reset - length
        if let hours = history.flatMap({
            WorkingHours(history: $0, length: length, before: start, zone: zone)
        }) {
            basis = Basis(count: hours.windowCount, unit: .init(minutes: window.nominalMinutes ?? minutes))
            runsOutAt = hours.limitReached(
                usedPercent: window.usedPercent, at: observedAt.unixSeconds, windowStart: start, reset: reset
            ).map(Date.init(unixSeconds:))
            return
        }
        basis = nil
        // Infinite as long as nothing is used, of which there are two forms: 0 and -0.
        let secondsLeft = (100 - window.usedPercent) / window.usedPercent.magnitude * elapsed
        let end = observedAt.addingTimeInterval(secondsLeft)
        runsOutAt = end < resetsAt ? end : nil
    }
}

extension Pace {
    /// Earlier in the window a pace is too uncertain to be warned of.
    private static let leastExpectedForWarning = 10.0
    /// A limit that runs out this part of the window's length before its reset is worth a warning.
    private static let leastLead = 0.05

    /// When the window's limit is reached, if that is so long before its reset that somebody should know.
    package func warning(in window: SyncRateWindow) -> Date? {
        guard let runsOutAt, let resetsAt = window.resetsAt, let minutes = window.windowMinutes,
            expectedPercent >= Self.leastExpectedForWarning,
            resetsAt.timeIntervalSince(runsOutAt) >= TimeInterval(minutes) * 60 * Self.leastLead
        else { return nil }
        return runsOutAt
    }

    /// "ahead of pace · runs out in 50m", "under pace · lasts until reset"; learned from earlier windows "on pace ·
    /// runs out Thu 24 Sep 15:00 by your last 4 weeks".
    package var text: TimedText {
        let stage =
            switch stage {
            case .farUnder: "well under pace"
            case .under: "under pace"
            case .slightlyUnder: "slightly under pace"
            case .onPace: "on pace"
            case .slightlyOver: "slightly ahead of pace"
            case .over: "ahead of pace"
            case .farOver: "well ahead of pace"
            }
        // By the user's hours a window may run out although less is used than time has passed, or last although more
        // is.
        let agrees = self.stage.isOver.map { $0 == (runsOutAt != nil) } ?? true
        return basis == nil || agrees ? "\(stage) · \(outlook)" : outlook
    }

    private var outlook: TimedText {
        let basis = basis.map { " by your last \($0.count) \($0.unit.rawValue)" }
        guard let runsOutAt else { return TimedText("lasts until reset" + (basis ?? "")) }
        return basis.map { "\(runsOutAt: runsOutAt, basis: $0)" } ?? "\(runsOut: runsOutAt)"
    }
}

extension Pace.Stage {
    /// Whether more is used than expected; nil on pace.
    package var isOver: Bool? {
        switch self {
        case .farUnder, .under, .slightlyUnder: false
        case .onPace: nil
        case .slightlyOver, .over, .farOver: true
        }
    }

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
