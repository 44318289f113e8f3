public import Foundation

/// What one device knows of one provider account's limits.
public struct ProviderUsageSnapshot: Codable, Sendable, Equatable {
    /// CodexBar's provider id: "codex", "claude", …
    public var providerID: String
    public var providerName: String
    /// The session window by convention; `rateWindows` wins when it is present.
    public var primary: SyncRateWindow?
    /// The weekly window by convention.
    public var secondary: SyncRateWindow?
    public var accountEmail: String?
    /// The plan as shown: "Pro", "Max 5x".
    public var loginMethod: String?
    /// Error or status text to show.
    public var statusMessage: String?
    public var isError: Bool
    /// When the numbers were observed, not when they were scanned.
    public var lastUpdated: Date
    /// All windows, in display order. `primary` and `secondary` repeat the first two.
    public var rateWindows: [SyncRateWindow]?
    public var costSummary: SyncCostSummary?
    public var budget: SyncBudget?
    /// Prepaid credits left. Not part of the first readers' format; they ignore it.
    public var credits: SyncCredits?
    /// "exact", "estimated", "percentOnly" or "unknown".
    public var usageDataConfidence: String?

    public init(
        providerID: String, providerName: String, primary: SyncRateWindow? = nil,
        secondary: SyncRateWindow? = nil, accountEmail: String? = nil,
        loginMethod: String? = nil, statusMessage: String? = nil, isError: Bool = false,
        lastUpdated: Date, rateWindows: [SyncRateWindow]? = nil,
        costSummary: SyncCostSummary? = nil, budget: SyncBudget? = nil,
        credits: SyncCredits? = nil, usageDataConfidence: String? = nil
    ) {
        self.providerID = providerID
        self.providerName = providerName
        self.primary = primary
        self.secondary = secondary
        self.accountEmail = accountEmail
        self.loginMethod = loginMethod
        self.statusMessage = statusMessage
        self.isError = isError
        self.lastUpdated = lastUpdated
        self.rateWindows = rateWindows
        self.costSummary = costSummary
        self.budget = budget
        self.credits = credits
        self.usageDataConfidence = usageDataConfidence
    }

    /// The windows to show: `rateWindows` when present, else `primary` and `secondary`.
    public var windows: [SyncRateWindow] {
        if let rateWindows, !rateWindows.isEmpty { return rateWindows }
        return [primary, secondary].compactMap { $0 }
    }
}
