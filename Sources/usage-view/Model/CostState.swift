import Essentials
import SnapshotModels

/// What a provider account's tokens cost, by the viewer's days.
struct CostState: Codable, Sendable, Equatable {
    struct Amount: Codable, Sendable, Equatable {
        var tokens: Int
        var costUSD: Double
    }

    /// One device's part.
    struct Part: Codable, Sendable, Equatable {
        var device: String
        var today: Amount
        var last30Days: Amount
    }

    var today: Amount
    var last7Days: Amount
    var last30Days: Amount
    /// Requests without a price, which are in no cost.
    var unpricedRequests: Int
    /// Whether older logs are still being read.
    var isPartial: Bool
    /// Of several devices.
    var parts: [Part]

    /// Nil without costs.
    init?(_ merged: MergedProvider, now: Date, zone: ClockZone) {
        guard let summary = merged.snapshot.costSummary else { return nil }
        func amounts(_ summary: SyncCostSummary) -> [Amount] {
            let days = summary.days(30, until: now, secondsFromGMT: zone.secondsFromGMT)
            return [1, 7, 30].map { count in
                days.suffix(count).reduce(into: Amount(tokens: 0, costUSD: 0)) { sum, day in
                    sum.tokens &+= day.totalTokens
                    sum.costUSD += day.costUSD
                }
            }
        }
        let sums = amounts(summary)
        today = sums[0]
        last7Days = sums[1]
        last30Days = sums[2]
        // Writers that state no days.
        if summary.hourly == nil, summary.daily?.isEmpty ?? true {
            today = Amount(
                tokens: summary.sessionTokens ?? 0, costUSD: summary.sessionCostUSD ?? 0)
            last30Days = Amount(
                tokens: summary.last30DaysTokens ?? 0, costUSD: summary.last30DaysCostUSD ?? 0)
            last7Days = today
        }
        guard last30Days.tokens > 0 || last30Days.costUSD > 0 else { return nil }
        unpricedRequests = summary.unpricedRequests ?? 0
        isPartial = summary.historyCoverageIsEstablished == false
        let costs = merged.parts.compactMap { part in
            part.costSummary.map { (part.deviceName, amounts($0)) }
        }
        parts =
            costs.count < 2
            ? [] : costs.map { Part(device: $0.0, today: $0.1[0], last30Days: $0.1[2]) }
    }
}
