extension SyncCostSummary {
    enum CodingKeys: String, CodingKey {
        case sessionCostUSD, sessionTokens, last30DaysCostUSD, last30DaysTokens, daily
    }

    /// Throws only when the value is not an object; every field may be missing.
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
    enum CodingKeys: String, CodingKey {
        case dayKey, costUSD, totalTokens, modelBreakdowns, serviceBreakdowns
    }

    /// Throws only when the day has no name.
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
    enum CodingKeys: String, CodingKey {
        case label, costUSD
    }

    /// Throws when the row has no name or no readable cost.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        guard let costUSD = fields.number(.costUSD) else {
            throw DecodingError.dataCorruptedError(
                forKey: .costUSD, in: fields, debugDescription: "no readable number")
        }
        self.init(label: try fields.decode(String.self, forKey: .label), costUSD: costUSD)
    }
}
