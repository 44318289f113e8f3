package import Essentials
import SnapshotModels
import TerminalText

/// One window of one account, with all that a short form says about it.
package struct UsageItem: Sendable, Equatable {
    /// What is known at the time of the model.
    package enum Condition: String, Sendable, Codable {
        case current
        /// Already old when it was pushed.
        case cached
        case stale
        case clockAhead
        /// The reset has passed: no percentage is known.
        case expired
        /// The account has no window, because its reading failed.
        case error
        /// The account has no window.
        case noWindow

        /// Whether the percentage is that of now, as far as anybody knows.
        package var isKnown: Bool { self == .current || self == .cached }
        /// Whether there is a percentage at all.
        package var hasPercent: Bool { isKnown || self == .stale || self == .clockAhead }
    }

    package let provider: ProviderState
    /// Nil for an account without windows.
    package let window: WindowState?
    package let condition: Condition

    package init(_ provider: ProviderState, _ window: WindowState?, at time: Date) {
        self.provider = provider
        self.window = window
        condition = Self.condition(of: window, in: provider, at: time)
    }

    static func condition(of window: WindowState?, in provider: ProviderState, at time: Date) -> Condition {
        guard let window else { return provider.snapshot.isError ? .error : .noWindow }
        if window.window.isReset(at: time) { return .expired }
        return switch provider.freshness(of: window).value(at: time) {
        case .fresh: .current
        case .cached: .cached
        case .stale: .stale
        case .clockAhead: .clockAhead
        }
    }

    /// Nil if there is none, or it is history.
    package var usedPercent: Double? { condition.hasPercent ? window?.window.usedPercent : nil }
    package var remainingPercent: Double? { condition.hasPercent ? window?.window.remainingPercent : nil }
    package var resetsAt: Date? { window?.window.resetsAt }
    package var observedAt: Date { window?.observedAt ?? provider.snapshot.lastUpdated }
    package var isEstimate: Bool { provider.snapshot.isEstimate }

    /// Whether at least that much is used now: until the reset, use only grows.
    package var isAtLeast: Bool { condition == .stale && resetsAt != nil }

    /// Nil unless the percentage is that of now, or was critical and cannot have fallen since.
    package var urgency: Urgency? { window.flatMap { Self.urgency(of: $0, condition) } }

    static func urgency(of window: WindowState, _ condition: Condition) -> Urgency? {
        if condition.isKnown { return window.urgency }
        return condition == .stale && window.window.resetsAt != nil && window.level == .critical ? .critical : nil
    }

    /// One word for programs: "comfortable", "low", "critical", or why there is no level of now.
    package var levelName: String {
        condition.isKnown ? window?.level.rawValue ?? "noWindow" : urgency?.rawValue ?? condition.rawValue
    }

    /// The next time after `now` at which what a short form says changes by itself.
    package func nextChange(after now: Date) -> Date? {
        [
            resetsAt.map {
                DurationFormatter.nextCountdown(to: $0, from: now) ?? DurationFormatter.nextAge(of: $0, at: now)
            },
            window?.pace?.runsOutAt.flatMap {
                DurationFormatter.nextCountdown(to: $0, from: now)
            },
            DurationFormatter.nextAge(of: observedAt, at: now),
            provider.freshness(of: window).nextChange(after: now),
        ].compactMap { $0 }.min()
    }
}

extension UsageSelection {
    /// The selected windows; an account without any window is there once.
    package func items(of states: [ProviderState], at time: Date) -> [UsageItem] {
        accounts(of: states).flatMap { state in
            state.windows.isEmpty
                ? window == nil ? [UsageItem(state, nil, at: time)] : []
                : windows(of: state).map { UsageItem(state, $0, at: time) }
        }
    }
}

extension UsageItem {
    /// The item that a line has room for: the one with the least left of those that are known, else of those that were,
    /// else the one that was reset last.
    package static func tightest(of items: [UsageItem]) -> UsageItem? {
        func tightest(_ isCandidate: (UsageItem) -> Bool) -> UsageItem? {
            items.filter(isCandidate)
                .min { ($0.remainingPercent ?? .infinity) < ($1.remainingPercent ?? .infinity) }
        }
        return tightest { $0.urgency != nil } ?? tightest(\.condition.hasPercent)
            ?? items.filter { $0.condition == .expired }
            .max { ($0.resetsAt ?? .distantPast) < ($1.resetsAt ?? .distantPast) }
            ?? items.first
    }
}
