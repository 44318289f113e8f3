import Essentials
import SnapshotModels

/// One rate limit window at one time.
struct WindowState: Sendable, Equatable {
    /// How close the limit is.
    enum Level: String, Sendable, Codable {
        /// Less than 10 % left.
        case critical
        /// Less than 25 % left.
        case low
        case comfortable

        init(remainingPercent: Double) {
            self =
                remainingPercent < 10 ? .critical : remainingPercent < 25 ? .low : .comfortable
        }
    }

    let window: SyncRateWindow
    let label: WindowLabel
    /// The reset has passed: the percentage is history, and the current one is unknown.
    let isExpired: Bool
    let pace: Pace?

    var level: Level { Level(remainingPercent: window.remainingPercent) }

    private init(_ window: SyncRateWindow, label: WindowLabel, observedAt: Date, now: Date) {
        self.window = window
        self.label = label
        isExpired = window.resetsAt.map { $0 <= now } ?? false
        pace = isExpired ? nil : Pace(of: window, observedAt: observedAt)
    }

    /// The session window first, then the weekly one, then the others in their order.
    static func inDisplayOrder(of provider: ProviderUsageSnapshot, now: Date) -> [WindowState] {
        let hasList = provider.rateWindows?.isEmpty == false
        let kinds: [WindowLabel.Kind] =
            hasList
            ? provider.windows.map { _ in .other }
            : (provider.primary == nil ? [] : [.session]) + [.weekly]
        let states = zip(provider.windows, kinds).map { window, kind in
            WindowState(
                window, label: WindowLabel(of: window, expected: kind),
                observedAt: provider.lastUpdated, now: now)
        }
        return [WindowLabel.Kind.session, .weekly, .other].flatMap { kind in
            states.filter { $0.label.kind == kind }
        }
    }
}
