package import ClockZones
package import Essentials
package import SnapshotModels

/// A provider account's tokens and cost by the viewer's days, and its cost by model.
package struct CostBreakdown: Sendable, Equatable {
    package struct Day: Sendable, Equatable {
        /// Days since 1970-01-01, in the viewer's zone.
        package let number: Int
        /// Noon of the day.
        package let date: Date
        package let amount: CostState.Amount
    }

    package struct Model: Sendable, Equatable {
        package let name: String
        package let costUSD: Double
    }

    /// Today first.
    package let days: [Day]
    /// The models of all days that the writer states, the most expensive first.
    package let models: [Model]

    /// Nil without anything.
    package init?(_ summary: SyncCostSummary?, dayCount: Int, now: Date, zone: ClockZone) {
        guard let summary else { return nil }
        let stated =
            summary.hourly == nil && summary.daily == nil
            ? []
            : summary.days(dayCount, until: now, secondsFromGMT: zone.secondsFromGMT)
        let today = zone.day(of: now)
        days = stated.reversed().enumerated().map { ago, day in
            Day(
                number: today - ago, date: zone.noon(ofDay: today - ago),
                amount: CostState.Amount(
                    tokens: day.totalTokens, costUSD: day.costUSD, unpricedTokens: day.unpricedTokens))
        }
        var costs: [String: Double] = [:]
        for part in (summary.daily ?? []).flatMap({ $0.modelBreakdowns ?? [] }) {
            costs[part.label, default: 0] += part.costUSD
        }
        models = costs.map { Model(name: $0.key, costUSD: $0.value) }
            .sorted { ($1.costUSD, $0.name) < ($0.costUSD, $1.name) }
        guard !models.isEmpty || days.contains(where: { $0.amount.tokens > 0 }) else { return nil }
    }
}
