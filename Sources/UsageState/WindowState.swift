package import Essentials
package import SnapshotModels

/// One rate limit window at one time.
package struct WindowState: Sendable, Equatable {
    /// How close the limit is.
    package enum Level: String, Sendable, Codable {
        /// Less than 10 % left.
        case critical
        /// Less than 25 % left.
        case low
        case comfortable

        package init(remainingPercent: Double) {
            self =
                remainingPercent < 10 ? .critical : remainingPercent < 25 ? .low : .comfortable
        }
    }

    package let window: SyncRateWindow
    package let label: WindowLabel
    /// The reset has passed: the percentage is history, and the current one is unknown.
    package let isExpired: Bool
    package let pace: Pace?

    package var level: Level { Level(remainingPercent: window.remainingPercent) }

    private init(_ window: SyncRateWindow, label: WindowLabel, observedAt: Date, now: Date) {
        self.window = window
        self.label = label
        isExpired = window.resetsAt.map { $0 <= now } ?? false
        pace = isExpired ? nil : Pace(of: window, observedAt: observedAt)
    }

    /// The session window first, then the weekly one, then the others in their order.
    package static func inDisplayOrder(of provider: ProviderUsageSnapshot, now: Date)
        -> [WindowState]
    {
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
