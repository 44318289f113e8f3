package import ClockZones
package import Essentials
package import SnapshotModels

/// What a provider account's tokens cost, by the viewer's days.
package struct CostState: Codable, Sendable, Equatable {
    package struct Amount: Codable, Sendable, Equatable {
        package var tokens: Int
        /// In whole millionths, which a sum of fractions is not.
        package var costUSD: Double
        /// Those of the tokens that are not in the cost; nil for none, and where an early writer does not say.
        package var unpricedTokens: Int?

        package init(tokens: Int, costUSD: Double, unpricedTokens: Int = 0) {
            self.tokens = tokens
            self.costUSD = (costUSD * 1e6).rounded() / 1e6
            self.unpricedTokens = unpricedTokens > 0 ? unpricedTokens : nil
        }
    }

    /// One device's part.
    package struct Part: Codable, Sendable, Equatable {
        package var device: String
        package var today: Amount
        package var last30Days: Amount
    }

    package var today: Amount
    /// Absent when the writer states no days.
    package var last7Days: Amount?
    package var last30Days: Amount
    /// Requests without a price, which are in no cost.
    package var unpricedRequests: Int
    /// Whether older logs are still being read.
    package var isPartial: Bool
    /// What each of several devices adds.
    package var parts: [Part]

    /// Nil without costs.
    package init?(_ merged: MergedProvider, now: Date, zone: ClockZone) {
        guard let summary = merged.snapshot.costSummary else { return nil }
        (today, last7Days, last30Days) = Self.amounts(of: summary, now: now, zone: zone)
        guard last30Days.tokens > 0 || last30Days.costUSD > 0 else { return nil }
        unpricedRequests = summary.unpricedRequests ?? 0
        isPartial = summary.historyCoverageIsEstablished == false
        let devices = merged.parts.filter { $0.costSummary != nil }
        parts =
            devices.count < 2
            ? []
            : devices.map { part in
                let (today, _, month) = Self.amounts(of: part.costSummary ?? SyncCostSummary(), now: now, zone: zone)
                return Part(device: part.deviceName, today: today, last30Days: month)
            }
    }

    private static func amounts(
        of summary: SyncCostSummary, now: Date, zone: ClockZone
    ) -> (today: Amount, week: Amount?, month: Amount) {
        guard summary.hourly != nil || summary.daily?.isEmpty == false else {
            return (
                Amount(tokens: summary.sessionTokens ?? 0, costUSD: summary.sessionCostUSD ?? 0), nil,
                Amount(
                    tokens: summary.last30DaysTokens ?? 0, costUSD: summary.last30DaysCostUSD ?? 0,
                    unpricedTokens: summary.unpricedTokens ?? 0)
            )
        }
        let days = summary.days(30, until: now, secondsFromGMT: zone.secondsFromGMT).map {
            Amount(tokens: $0.totalTokens, costUSD: $0.costUSD, unpricedTokens: $0.unpricedTokens)
        }
        return (days.suffix(1).total, days.suffix(7).total, days.total)
    }
}

extension CostState {
    /// Whether something has no price, and it is not known on which days: an early writer does not say.
    package var isUnstated: Bool { unpricedRequests > 0 && last30Days.unpricedTokens == nil }

    /// "today $1.20 (310k tokens) · 7 days $9.80 · 30 days $31.00+ · not priced: 1.2M tokens (12 %)".
    package var summary: String {
        func amount(_ amount: Amount) -> String { amount.text(isUnstated: isUnstated) }
        let tokens =
            today.costText(isUnstated: isUnstated) == nil
            ? "" : " (\(AmountFormatter.tokens(today.tokens)))"
        let period = isPartial ? "30 days, still reading" : "30 days"
        return "today \(amount(today))\(tokens) · "
            + (last7Days.map { "7 days \(amount($0)) · " } ?? "")
            + "\(period) \(amount(last30Days))"
            + (last30Days.unpricedText.map { " · not priced: \($0)" } ?? "")
    }
}

extension Collection<CostState.Amount> {
    var total: CostState.Amount {
        CostState.Amount(
            tokens: reduce(0) { $0 &+ $1.tokens }, costUSD: reduce(0) { $0 + $1.costUSD },
            unpricedTokens: reduce(0) { $0 &+ ($1.unpricedTokens ?? 0) })
    }
}

extension CostState.Amount {
    /// "$1.20", "$1.20+" when not everything has a price; nil when nothing has.
    package func costText(isUnstated: Bool = false) -> String? {
        let isWhole = unpricedTokens == nil && !isUnstated
        if costUSD == 0, !isWhole { return nil }
        return AmountFormatter.money(costUSD, currency: "USD") + (isWhole ? "" : "+")
    }

    /// The cost; the tokens when nothing has a price.
    package func text(isUnstated: Bool) -> String {
        costText(isUnstated: isUnstated) ?? AmountFormatter.tokens(tokens)
    }

    /// "1.2M tokens (12 %)"; nil when everything has a price.
    package var unpricedText: String? {
        unpricedTokens.map { unpriced in
            let share = tokens > 0 ? min(100, Double(unpriced) / Double(tokens) * 100) : 100
            return "\(AmountFormatter.tokens(unpriced)) (\(AmountFormatter.percent(share)))"
        }
    }
}
