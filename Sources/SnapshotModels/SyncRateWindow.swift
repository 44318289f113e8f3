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

    public init(
        usedPercent: Double, windowMinutes: Int? = nil, resetsAt: Date? = nil,
        resetDescription: String? = nil, label: String? = nil
    ) {
        self.usedPercent = usedPercent
        self.windowMinutes = windowMinutes
        self.resetsAt = resetsAt
        self.resetDescription = resetDescription
        self.label = label
    }

    /// Percent left: 100 − used, at least 0, and more than 100 when less than 0 is used.
    public var remainingPercent: Double { max(0, 100 - usedPercent) }
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
            label: fields.text(.label))
    }
}
