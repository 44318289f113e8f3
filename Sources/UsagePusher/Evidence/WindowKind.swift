/// Which of a provider's windows a number belongs to, identified by its length. Without a length the first one of a
/// row is the session and the second one the week, as Codex shows them.
enum WindowKind: Sendable, Hashable, Codable {
    /// About five hours.
    case session
    /// About seven days.
    case weekly
    case length(minutes: Int)
    /// Has a length that the tool does not state, at most a month.
    case unstated

    static let sessionMinutes = 300
    static let weeklyMinutes = 10_080
    /// Lengths of 299 and 10 079 minutes have been seen.
    private static let tolerance = 2

    init(minutes: Int?, place: Int) {
        guard let minutes, (1...527_040).contains(minutes) else {
            self = place == 0 ? .session : .weekly
            return
        }
        if abs(minutes - Self.sessionMinutes) <= Self.tolerance {
            self = .session
        } else if abs(minutes - Self.weeklyMinutes) <= Self.tolerance {
            self = .weekly
        } else {
            self = .length(minutes: minutes)
        }
    }

    var minutes: Int? {
        switch self {
        case .session: Self.sessionMinutes
        case .weekly: Self.weeklyMinutes
        case .length(let minutes): minutes
        case .unstated: nil
        }
    }

    var seconds: Double { Double((minutes ?? 31 * 1_440) * 60) }

    /// Completes "the … limit".
    var name: String {
        switch self {
        case .session: return "session"
        case .weekly: return "weekly"
        case .length(let minutes):
            if minutes.isMultiple(of: 1_440) { return "\(minutes / 1_440)-day" }
            if minutes.isMultiple(of: 60) { return "\(minutes / 60)-hour" }
            return "\(minutes)-minute"
        case .unstated: return "usage"
        }
    }

    /// Says that a number is missing because its window has been reset, and not because it is 0; nil without kinds.
    static func resetNotice(_ kinds: [WindowKind]) -> String? {
        guard !kinds.isEmpty else { return nil }
        let names = kinds.map(\.name).joined(separator: " and ")
        return "The \(names) \(kinds.count == 1 ? "limit has" : "limits have")" + " been reset since the last reading"
    }
}

/// Session, weekly, then by length.
extension WindowKind: Comparable {
    private var rank: (Int, Int) {
        switch self {
        case .session: (0, 0)
        case .weekly: (1, 0)
        case .length(let minutes): (2, minutes)
        case .unstated: (3, 0)
        }
    }

    static func < (left: WindowKind, right: WindowKind) -> Bool { left.rank < right.rank }
}
