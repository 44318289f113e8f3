package import SnapshotModels
import TerminalText

/// The name of a window: the writer's label, else one derived from its length.
package struct WindowLabel: Sendable, Equatable {
    package enum Kind: Sendable { case session, weekly, other }

    package let text: String
    /// "5h", "7d": a few cells if derived from the length.
    package let short: String
    /// The place in the display order. A labelled window is an additional limit unless its label is that of a
    /// plain one.
    package let kind: Kind

    /// What a user may call it: "Session (5h)", "5h", "session".
    package var names: [String] {
        switch kind {
        case .session: [text, short, "session"]
        case .weekly: [text, short, "weekly"]
        case .other: [text, short]
        }
    }

    /// - Parameter expected: the kind of a window with neither label nor length.
    package init(of window: SyncRateWindow, expected: Kind = .other) {
        let derived = Self.derived(window, expected: expected)
        guard let label = window.label, !label.isEmpty else {
            (text, short, kind) = derived
            return
        }
        text = label
        let folded = label.lowercased()
        kind =
            folded.hasPrefix("session")
            ? .session : folded.hasPrefix("weekly") ? .weekly : .other
        short = kind == .other ? label : derived.short
    }

    private static func derived(_ window: SyncRateWindow, expected: Kind) -> (text: String, short: String, kind: Kind) {
        guard let minutes = window.windowMinutes, let nominal = window.nominalMinutes else {
            return switch expected {
            case .session: ("Session", "Session", .session)
            case .weekly: ("Weekly", "Weekly", .weekly)
            case .other: ("Limit", "Limit", .other)
            }
        }
        let length = DurationFormatter.length(minutes: nominal)
        if minutes <= 360 { return ("Session (\(length))", length, .session) }
        if abs(minutes - 1_440) <= SyncRateWindow.lengthTolerance { return ("Daily", length, .other) }
        if minutes <= 10_080 + SyncRateWindow.lengthTolerance { return ("Weekly", length, .weekly) }
        let days = DurationFormatter.length(minutes: minutes / 1_440 * 1_440)
        return ("Period (\(days))", days, .other)
    }
}
