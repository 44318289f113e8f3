public import Essentials

/// One rate limit window of a provider: how much of it is used and when it is reset.
///
/// For an example see `SyncedUsageSnapshot`.
public struct SyncRateWindow: Codable, Sendable, Equatable {
    /// Percent used, nominally 0–100, not clamped: providers report 105 or -5.
    public var usedPercent: Double
    /// Length of the window in minutes: 300 (five hours), 10 080 (a week), …
    public var windowMinutes: Int?
    /// When the window is reset, in whole seconds.
    public var resetsAt: Date?
    /// The provider's description of the reset, shown when `resetsAt` is nil.
    public var resetDescription: String?
    /// A name that overrides the one derived from `windowMinutes`.
    public var label: String?
    /// When the percentage was observed, in whole seconds, if before the `lastUpdated` of its provider; else nil.
    public var observedAt: Date?

    public init(
        usedPercent: Double, windowMinutes: Int? = nil, resetsAt: Date? = nil,
        resetDescription: String? = nil, label: String? = nil, observedAt: Date? = nil
    ) {
        self.usedPercent = usedPercent
        self.windowMinutes = windowMinutes
        self.resetsAt = resetsAt
        self.resetDescription = resetDescription
        self.label = label
        self.observedAt = observedAt
    }

    /// Percent left: 100 − used, at least 0, and more than 100 when less than 0 is used.
    public var remainingPercent: Double { max(0, 100 - usedPercent) }

    /// Whether the reset has passed, so that the percentage is history.
    package func isReset(at time: Date) -> Bool { resetsAt.map { $0 <= time } ?? false }

    /// By how many minutes tools are off: they report 299 for five hours and 10 079 for a week.
    package static let lengthTolerance = 2

    /// The length that is meant: the nearest hour if that is within the tolerance.
    package var nominalMinutes: Int? {
        windowMinutes.map { minutes in
            let hours = minutes / 60 + (minutes % 60 >= 30 ? 1 : 0)
            return hours > 0 && abs(hours * 60 - minutes) <= Self.lengthTolerance ? hours * 60 : minutes
        }
    }
}

extension SyncRateWindow {
    /// Lenient. Throws only when there is no readable `usedPercent`.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            usedPercent: try fields.required(.usedPercent, fields.number(.usedPercent)),
            windowMinutes: fields.integer(.windowMinutes).flatMap { $0 > 0 ? $0 : nil },
            resetsAt: fields.date(.resetsAt),
            resetDescription: fields.text(.resetDescription),
            label: fields.text(.label),
            observedAt: fields.date(.observedAt))
    }
}
