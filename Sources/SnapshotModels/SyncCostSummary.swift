/// Tokens and money that a device's local logs account for.
public struct SyncCostSummary: Codable, Sendable, Equatable {
    public var sessionCostUSD: Double?
    public var sessionTokens: Int?
    public var last30DaysCostUSD: Double?
    public var last30DaysTokens: Int?
    public var daily: [SyncDailyCost]?

    public init(
        sessionCostUSD: Double? = nil, sessionTokens: Int? = nil,
        last30DaysCostUSD: Double? = nil, last30DaysTokens: Int? = nil,
        daily: [SyncDailyCost]? = nil
    ) {
        self.sessionCostUSD = sessionCostUSD
        self.sessionTokens = sessionTokens
        self.last30DaysCostUSD = last30DaysCostUSD
        self.last30DaysTokens = last30DaysTokens
        self.daily = daily
    }
}

/// One calendar day of a cost summary.
public struct SyncDailyCost: Codable, Sendable, Equatable {
    /// "2026-09-17".
    public var dayKey: String
    public var costUSD: Double?
    public var totalTokens: Int?
    public var modelBreakdowns: [SyncCostBreakdown]?
    public var serviceBreakdowns: [SyncCostBreakdown]?

    public init(
        dayKey: String, costUSD: Double? = nil, totalTokens: Int? = nil,
        modelBreakdowns: [SyncCostBreakdown]? = nil,
        serviceBreakdowns: [SyncCostBreakdown]? = nil
    ) {
        self.dayKey = dayKey
        self.costUSD = costUSD
        self.totalTokens = totalTokens
        self.modelBreakdowns = modelBreakdowns
        self.serviceBreakdowns = serviceBreakdowns
    }
}

/// A named part of a day's cost.
public struct SyncCostBreakdown: Codable, Sendable, Equatable {
    public var label: String
    public var costUSD: Double

    public init(label: String, costUSD: Double) {
        self.label = label
        self.costUSD = costUSD
    }
}
