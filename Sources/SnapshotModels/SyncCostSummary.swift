/// Tokens and cost in a device's local logs.
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

extension SyncCostSummary {
    /// Lenient. Throws only when the value is not an object.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            sessionCostUSD: fields.number(.sessionCostUSD),
            sessionTokens: fields.integer(.sessionTokens),
            last30DaysCostUSD: fields.number(.last30DaysCostUSD),
            last30DaysTokens: fields.integer(.last30DaysTokens),
            daily: fields.list(.daily, limit: SnapshotLimits.costDays)?.elements)
    }
}

extension SyncDailyCost {
    /// Lenient. Throws only when there is no `dayKey`.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        let limit = SnapshotLimits.breakdownsPerDay
        self.init(
            dayKey: try fields.decode(String.self, forKey: .dayKey),
            costUSD: fields.number(.costUSD),
            totalTokens: fields.integer(.totalTokens),
            modelBreakdowns: fields.list(.modelBreakdowns, limit: limit)?.elements,
            serviceBreakdowns: fields.list(.serviceBreakdowns, limit: limit)?.elements)
    }
}

extension SyncCostBreakdown {
    /// Throws when there is no label or no readable cost.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            label: try fields.decode(String.self, forKey: .label),
            costUSD: try fields.required(.costUSD, fields.number(.costUSD)))
    }
}
