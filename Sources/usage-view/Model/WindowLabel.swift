import SnapshotModels
import TerminalText

/// What a window is called: by its length, not by the slot it came in. The writer's label wins.
struct WindowLabel: Sendable, Equatable {
    enum Slot: Sendable { case primary, secondary }
    enum Kind: Sendable { case session, weekly, other }

    let text: String
    /// A few cells at most where it comes from the length: "5h", "7d".
    let short: String
    /// Where the window belongs in the display order; a named window beside the plain ones is an
    /// additional limit, unless its name is that of the plain one.
    let kind: Kind

    /// Tools report 299 for five hours and 10 079 for a week.
    private static let tolerance = 2

    init(of window: SyncRateWindow, slot: Slot? = nil) {
        let derived = Self.derived(minutes: window.windowMinutes, slot: slot)
        guard let label = window.label, !label.isEmpty else {
            (text, short, kind) = derived
            return
        }
        text = label
        let folded = label.lowercased()
        if folded.hasPrefix("session") || folded.hasPrefix("weekly") {
            short = derived.short
            kind = folded.hasPrefix("session") ? .session : .weekly
        } else {
            short = label
            kind = .other
        }
    }

    private static func derived(
        minutes: Int?, slot: Slot?
    ) -> (text: String, short: String, kind: Kind) {
        guard let minutes else {
            return switch slot {
            case .primary: ("Session", "Session", .session)
            case .secondary: ("Weekly", "Weekly", .weekly)
            case nil: ("Limit", "Limit", .other)
            }
        }
        let length = DurationWords.length(minutes: rounded(minutes))
        if minutes <= 360 { return ("Session (\(length))", length, .session) }
        if abs(minutes - 1_440) <= tolerance { return ("Daily", length, .other) }
        if minutes <= 10_080 + tolerance { return ("Weekly", length, .weekly) }
        let days = DurationWords.length(minutes: minutes / 1_440 * 1_440)
        return ("Period (\(days))", days, .other)
    }

    /// To the hour when it is within the tolerance of one.
    private static func rounded(_ minutes: Int) -> Int {
        let hours = (minutes - minutes % 60) / 60 + (minutes % 60 >= 30 ? 1 : 0)
        return hours > 0 && abs(hours * 60 - minutes) <= tolerance ? hours * 60 : minutes
    }
}
