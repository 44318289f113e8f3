package import Essentials
package import SnapshotModels

/// What a provider account's tokens cost, by the viewer's days.
package struct CostState: Codable, Sendable, Equatable {
    package struct Amount: Codable, Sendable, Equatable {
        package var tokens: Int
        /// In whole millionths, which a sum of fractions is not.
        package var costUSD: Double

        package init(tokens: Int, costUSD: Double) {
            self.tokens = tokens
            self.costUSD = (costUSD * 1e6).rounded() / 1e6
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
    /// Of several devices.
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
                let (today, _, month) = Self.amounts(
                    of: part.costSummary ?? SyncCostSummary(), now: now, zone: zone)
                return Part(device: part.deviceName, today: today, last30Days: month)
            }
    }

    private static func amounts(
        of summary: SyncCostSummary, now: Date, zone: ClockZone
    ) -> (today: Amount, week: Amount?, month: Amount) {
        guard summary.hourly != nil || summary.daily?.isEmpty == false else {
            return (
                Amount(tokens: summary.sessionTokens ?? 0, costUSD: summary.sessionCostUSD ?? 0),
                nil,
                Amount(
                    tokens: summary.last30DaysTokens ?? 0, costUSD: summary.last30DaysCostUSD ?? 0)
            )
        }
        let days = summary.days(30, until: now, secondsFromGMT: zone.secondsFromGMT)
        func sum(_ count: Int) -> Amount {
            let days = days.suffix(count)
            return Amount(
                tokens: days.reduce(0) { $0 &+ $1.totalTokens },
                costUSD: days.reduce(0) { $0 + $1.costUSD })
        }
        return (sum(1), sum(7), sum(30))
    }
}

extension CostState {
    /// "today $1.20 (310k tokens) · 7 days $9.80 · 30 days $31.00+".
    package var summary: String {
        // More than is known.
        let more = unpricedRequests > 0 ? "+" : ""
        func amount(_ amount: Amount) -> String {
            amount.costUSD == 0 && unpricedRequests > 0
                ? AmountFormatter.tokens(amount.tokens)
                : AmountFormatter.money(amount.costUSD, currency: "USD") + more
        }
        let tokens =
            today.costUSD == 0 && unpricedRequests > 0
            ? "" : " (\(AmountFormatter.tokens(today.tokens)))"
        let period = isPartial ? "30 days, still reading" : "30 days"
        return "today \(amount(today))\(tokens) · "
            + (last7Days.map { "7 days \(amount($0)) · " } ?? "")
            + "\(period) \(amount(last30Days))"
    }
}
