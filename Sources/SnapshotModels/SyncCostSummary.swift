public import Essentials

/// Tokens and cost in a device's local logs. CodexBar's readers require `daily`, and the numbers of its days.
///
/// ```swift
/// let day = SyncDailyCost(
///     dayKey: "2026-09-18", costUSD: 1.25, totalTokens: 90_000,
///     modelBreakdowns: [SyncCostBreakdown(label: "claude-opus-5", costUSD: 1.25)])
/// let hour = SyncHourlyCost(hour: 497_148, totalTokens: 90_000, costUSD: 1.25)    // from 12:00 UTC
/// claude.costSummary = SyncCostSummary(daily: [day], hourly: [hour])
/// ```
public struct SyncCostSummary: Codable, Sendable, Equatable {
    /// The costs of the writer's today, despite the name.
    public var sessionCostUSD: Double?
    public var sessionTokens: Int?
    /// The costs of `historyDays` days; nil when the cost of some of them is unknown.
    public var last30DaysCostUSD: Double?
    public var last30DaysTokens: Int?
    /// By the writer's days, ascending; days without usage are left out.
    public var daily: [SyncDailyCost]?
    /// 30 when absent.
    public var historyDays: Int?
    /// False while older logs have not been read yet.
    public var historyCoverageIsEstablished: Bool?
    /// Requests with neither a price nor a cost of the tool's own; they are in no cost.
    public var unpricedRequests: Int?
    /// Their tokens without a price, which are in no cost; nil when there are no such requests. Early writers leave it
    /// out.
    public var unpricedTokens: Int?
    /// The same days by the hour, for a reader in another time zone. Early readers ignore the field.
    public var hourly: [SyncHourlyCost]?

    public init(
        sessionCostUSD: Double? = nil, sessionTokens: Int? = nil, last30DaysCostUSD: Double? = nil,
        last30DaysTokens: Int? = nil, daily: [SyncDailyCost]? = nil, historyDays: Int? = nil,
        historyCoverageIsEstablished: Bool? = nil, unpricedRequests: Int? = nil, unpricedTokens: Int? = nil,
        hourly: [SyncHourlyCost]? = nil
    ) {
        self.sessionCostUSD = sessionCostUSD
        self.sessionTokens = sessionTokens
        self.last30DaysCostUSD = last30DaysCostUSD
        self.last30DaysTokens = last30DaysTokens
        self.daily = daily
        self.historyDays = historyDays
        self.historyCoverageIsEstablished = historyCoverageIsEstablished
        self.unpricedRequests = unpricedRequests
        self.unpricedTokens = unpricedTokens
        self.hourly = hourly
    }
}

/// Tokens and cost of one hour: a JSON array of the hour since 1970, tokens, millionths of a US dollar and, if there
/// are any, the tokens without a price.
///
/// For an example see `SyncCostSummary`.
public struct SyncHourlyCost: Sendable, Equatable {
    /// Hours since 1970.
    public var hour: Int
    public var totalTokens: Int
    public var costUSD: Double
    /// Those of the tokens that are not in the cost.
    public var unpricedTokens: Int

    public init(hour: Int, totalTokens: Int, costUSD: Double, unpricedTokens: Int = 0) {
        self.hour = hour
        self.totalTokens = totalTokens
        self.costUSD = costUSD
        self.unpricedTokens = unpricedTokens
    }
}

extension SyncHourlyCost: Codable {
    private static let unitsPerDollar = 1e6
    /// Hours until the year 9999.
    private static let hours = 0...70_389_527

    public init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        hour = try list.decode(Int.self)
        totalTokens = try list.decode(Int.self)
        costUSD = Double(try list.decode(Int64.self)) / Self.unitsPerDollar
        unpricedTokens = list.isAtEnd ? 0 : try list.decode(Int.self)
        guard Self.hours.contains(hour), totalTokens >= 0, costUSD >= 0, unpricedTokens >= 0 else {
            throw DecodingError.dataCorruptedError(in: list, debugDescription: "not an hour with tokens and a cost")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        try list.encode(hour)
        try list.encode(totalTokens)
        let units = (costUSD * Self.unitsPerDollar).rounded()
        try list.encode(Int64(exactly: min(max(units, 0), 1e15)) ?? 0)
        if unpricedTokens > 0 { try list.encode(unpricedTokens) }
    }
}

/// One calendar day of a cost summary.
///
/// For an example see `SyncCostSummary`.
public struct SyncDailyCost: Codable, Sendable, Equatable {
    /// "2026-09-17".
    public var dayKey: String
    public var costUSD: Double?
    public var totalTokens: Int?
    public var modelBreakdowns: [SyncCostBreakdown]?
    public var serviceBreakdowns: [SyncCostBreakdown]?
    /// Those of the tokens that are not in the cost; nil for none.
    public var unpricedTokens: Int?

    public init(
        dayKey: String, costUSD: Double? = nil, totalTokens: Int? = nil, modelBreakdowns: [SyncCostBreakdown]? = nil,
        serviceBreakdowns: [SyncCostBreakdown]? = nil, unpricedTokens: Int? = nil
    ) {
        self.dayKey = dayKey
        self.costUSD = costUSD
        self.totalTokens = totalTokens
        self.modelBreakdowns = modelBreakdowns
        self.serviceBreakdowns = serviceBreakdowns
        self.unpricedTokens = unpricedTokens
    }
}

/// A named part of a day's cost.
///
/// For an example see `SyncCostSummary`.
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
            daily: fields.list(.daily, limit: SnapshotLimits.costDays)?.elements,
            historyDays: fields.integer(.historyDays),
            historyCoverageIsEstablished: fields.flag(.historyCoverageIsEstablished),
            unpricedRequests: fields.integer(.unpricedRequests),
            unpricedTokens: fields.integer(.unpricedTokens),
            hourly: fields.list(.hourly, limit: SnapshotLimits.costHours)?.elements)
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
            serviceBreakdowns: fields.list(.serviceBreakdowns, limit: limit)?.elements,
            unpricedTokens: fields.integer(.unpricedTokens))
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

extension SyncCostSummary {
    /// Tokens and cost, and tokens without a price, of the last days of a time zone, today's last, with empty days.
    ///
    /// An hour belongs to the day in which it begins there. Without `hourly` the days are the writer's.
    ///
    /// - Parameters:
    ///   - count: how many days.
    ///   - now: a time of the last of them.
    ///   - secondsFromGMT: of the zone, at a time.
    public func days(
        _ count: Int, until now: Date, secondsFromGMT: (Date) -> Int
    ) -> [(totalTokens: Int, costUSD: Double, unpricedTokens: Int)] {
        func day(_ date: Date) -> Int {
            let seconds = date.timeIntervalSince1970 + Double(secondsFromGMT(date))
            return Int((seconds / 86_400).rounded(.down))
        }
        var days = [(totalTokens: Int, costUSD: Double, unpricedTokens: Int)](repeating: (0, 0, 0), count: count)
        let today = day(now)
        func add(_ day: Int, _ tokens: Int, _ cost: Double, _ unpriced: Int) {
            let index = count - 1 - (today - day)
            guard days.indices.contains(index) else { return }
            days[index].totalTokens &+= tokens
            days[index].costUSD += cost
            days[index].unpricedTokens &+= unpriced
        }
        if let hourly {
            for hour in hourly {
                let start = Date(timeIntervalSince1970: Double(hour.hour) * 3_600)
                add(day(start), hour.totalTokens, hour.costUSD, hour.unpricedTokens)
            }
        } else {
            for entry in daily ?? [] {
                guard let date = LenientDate.date(fromText: entry.dayKey + "T00:00Z") else { continue }
                add(
                    Int(date.timeIntervalSince1970) / 86_400, entry.totalTokens ?? 0,
                    entry.costUSD ?? 0, max(entry.unpricedTokens ?? 0, 0))
            }
        }
        return days
    }
}
