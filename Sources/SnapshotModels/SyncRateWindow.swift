public import Foundation

/// One rate limit window of a provider: how much of it is used and when it starts again.
public struct SyncRateWindow: Codable, Sendable, Equatable {
    /// Percent used, nominally 0–100. Never clamped here: providers report 105 or -5.
    public var usedPercent: Double
    /// Length of the window in minutes: 300 (five hours), 10 080 (a week), …
    public var windowMinutes: Int?
    /// When the window starts again, whole seconds.
    public var resetsAt: Date?
    /// The provider's own words for the reset, shown when `resetsAt` is nil.
    public var resetDescription: String?
    /// A name that wins over the one derived from `windowMinutes`.
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

    /// Percent left: 100 − used, never below 0 and not clamped above (−5 used leaves 105).
    public var remainingPercent: Double { max(0, 100 - usedPercent) }
}
