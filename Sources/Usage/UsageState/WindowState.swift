package import ClockZones
package import Essentials
package import SnapshotModels

/// One rate limit window at one time.
package struct WindowState: Sendable, Equatable {
    package let window: SyncRateWindow
    package let label: WindowLabel
    package let identity: WindowIdentity
    package let observedAt: Date
    /// The reset has passed: the percentage is history, and the current one is unknown.
    package let isExpired: Bool
    package let pace: Pace?
    /// What is known of its past, the present value included; nil without any.
    package let history: WindowHistory?

    /// By what is left alone, whatever the pace.
    package var level: Urgency { .left(window.remainingPercent) }

    private init(
        _ window: SyncRateWindow, of provider: ProviderUsageSnapshot, expected: WindowLabel.Kind,
        now: Date, zone: ClockZone, history: UsageHistory
    ) {
        self.window = window
        label = WindowLabel(of: window, expected: expected)
        identity = WindowIdentity(provider, window, label: label)
        observedAt = provider.observedAt(window)
        self.history = history[identity]
        isExpired = window.isReset(at: now)
        pace =
            isExpired
            ? nil
            : Pace(of: window, observedAt: observedAt, history: self.history, zone: zone)
    }

    /// The session window first, then the weekly one, then the others in their order.
    ///
    /// - Parameter zone: that of the user's working hours, which the pace learns from the history.
    package static func inDisplayOrder(
        of provider: ProviderUsageSnapshot, now: Date, zone: ClockZone = .local, history: UsageHistory = .init()
    ) -> [WindowState] {
        let hasList = provider.rateWindows?.isEmpty == false
        let kinds: [WindowLabel.Kind] =
            hasList
            ? provider.windows.map { _ in .other }
            : (provider.primary == nil ? [] : [.session]) + [.weekly]
        let states = zip(provider.windows, kinds).map { window, kind in
            WindowState(window, of: provider, expected: kind, now: now, zone: zone, history: history)
        }
        return [WindowLabel.Kind.session, .weekly, .other].flatMap { kind in states.filter { $0.label.kind == kind } }
    }
}
