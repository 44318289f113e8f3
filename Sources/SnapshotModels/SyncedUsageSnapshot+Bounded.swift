extension SyncedUsageSnapshot {
    /// The snapshot with numbers whose sums and quotients are numbers: another machine may have stored any. One beyond
    /// 10^15 becomes that, and use below zero zero.
    package func bounded() -> SyncedUsageSnapshot {
        var copy = self
        for index in providers.indices { copy.providers[index].bound() }
        return copy
    }
}

extension ProviderUsageSnapshot {
    fileprivate mutating func bound() {
        primary?.usedPercent.bound()
        secondary?.usedPercent.bound()
        for index in (rateWindows ?? []).indices { rateWindows?[index].usedPercent.bound() }
        budget?.usedAmount.bound()
        budget?.limitAmount.bound()
        credits?.balance?.bound()
        costSummary?.bound()
    }
}

extension SyncCostSummary {
    fileprivate mutating func bound() {
        sessionCostUSD?.boundPositive()
        sessionTokens?.boundPositive()
        last30DaysCostUSD?.boundPositive()
        last30DaysTokens?.boundPositive()
        unpricedRequests?.boundPositive()
        unpricedTokens?.boundPositive()
        for index in (hourly ?? []).indices {
            hourly?[index].totalTokens.boundPositive()
            hourly?[index].costUSD.boundPositive()
            hourly?[index].unpricedTokens.boundPositive()
        }
        for index in (daily ?? []).indices { daily?[index].bound() }
    }
}

extension SyncDailyCost {
    fileprivate mutating func bound() {
        costUSD?.boundPositive()
        totalTokens?.boundPositive()
        unpricedTokens?.boundPositive()
        for index in (modelBreakdowns ?? []).indices { modelBreakdowns?[index].costUSD.boundPositive() }
        for index in (serviceBreakdowns ?? []).indices { serviceBreakdowns?[index].costUSD.boundPositive() }
    }
}

extension Comparable where Self: SignedNumeric {
    private static var greatest: Self { 1_000_000_000_000_000 }

    fileprivate mutating func bound() { self = Swift.min(Swift.max(self, -Self.greatest), Self.greatest) }

    /// Nobody uses less than nothing.
    fileprivate mutating func boundPositive() { self = Swift.min(Swift.max(self, 0), Self.greatest) }
}
