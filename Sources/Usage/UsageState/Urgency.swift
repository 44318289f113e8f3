package import Essentials
import SnapshotModels

/// How much a window needs somebody: the worse of what is left and of how fast it is used.
package enum Urgency: String, Sendable, Codable, CaseIterable, Comparable {
    /// 25 % or more is left.
    case comfortable
    /// Less than 25 % is left, and lasts until the reset as far as the pace says.
    case low
    /// The limit is reached well before its reset at this pace.
    case runsOut
    /// Less than 10 % is left.
    case critical

    /// By what is left alone.
    package static func left(_ percent: Double) -> Urgency {
        percent < 10 ? .critical : percent < 25 ? .low : .comfortable
    }

    /// Whether somebody should do something: use less, or another tool.
    package var needsAttention: Bool { self >= .runsOut }

    /// Before the time at which a limit runs out too early.
    package static let outSign = "▲"

    /// What says it without a color: "!!", "!" or nothing.
    package var sign: String {
        switch self {
        case .critical: "!!"
        case .low, .runsOut: "!"
        case .comfortable: ""
        }
    }

    package static func < (left: Urgency, right: Urgency) -> Bool { left.number < right.number }

    /// 0 is comfortable, 3 critical.
    package var number: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

extension WindowState {
    package var urgency: Urgency { max(.left(window.remainingPercent), warning == nil ? .comfortable : .runsOut) }

    /// See `Pace.warning(in:)`.
    package var warning: Date? { pace?.warning(in: window) }
}
