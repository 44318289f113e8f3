import Foundation
import SnapshotModels

/// One rate limit window at a moment.
struct WindowState: Sendable, Equatable {
    /// How close the limit is, by what is left.
    enum Level: String, Sendable, Codable {
        /// Less than 10 % left.
        case critical
        /// Less than 25 % left.
        case low
        case comfortable

        init(remainingPercent: Double) {
            if remainingPercent < 10 {
                self = .critical
            } else if remainingPercent < 25 {
                self = .low
            } else {
                self = .comfortable
            }
        }
    }

    let window: SyncRateWindow
    let label: WindowLabel
    /// Its reset has passed: the percent is history and the new one is not known.
    let isExpired: Bool
    let pace: Pace?

    var level: Level { Level(remainingPercent: window.remainingPercent) }

    init(_ window: SyncRateWindow, label: WindowLabel, observedAt: Date, now: Date) {
        self.window = window
        self.label = label
        isExpired = window.resetsAt.map { $0 <= now } ?? false
        pace = isExpired ? nil : Pace(of: window, observedAt: observedAt)
    }

    /// The session first, then the weekly window, then the others as they came.
    static func inDisplayOrder(
        of provider: ProviderUsageSnapshot, observedAt: Date, now: Date
    ) -> [WindowState] {
        let usesList = provider.rateWindows.map { !$0.isEmpty } ?? false
        let slots: [WindowLabel.Slot?] =
            usesList
            ? Array(repeating: nil, count: provider.windows.count)
            : (provider.primary == nil ? [] : [.primary])
                + (provider.secondary == nil ? [] : [.secondary])
        let states = zip(provider.windows, slots).map { window, slot in
            WindowState(
                window, label: WindowLabel(of: window, slot: slot), observedAt: observedAt,
                now: now)
        }
        return states.filter { $0.label.kind == .session }
            + states.filter { $0.label.kind == .weekly }
            + states.filter { $0.label.kind == .other }
    }
}
