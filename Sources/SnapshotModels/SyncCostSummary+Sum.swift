extension SyncCostSummary {
    /// The sum over devices: field by field, days by key, breakdown rows by label. A field that no
    /// summary has stays nil; token counts saturate.
    static func sum(_ summaries: [SyncCostSummary]) -> SyncCostSummary? {
        guard summaries.count > 1 else { return summaries.first }
        let days = summaries.compactMap(\.daily)
        return SyncCostSummary(
            sessionCostUSD: total(summaries.map(\.sessionCostUSD)),
            sessionTokens: total(summaries.map(\.sessionTokens)),
            last30DaysCostUSD: summaries.contains {
                $0.last30DaysCostUSD == nil && $0.last30DaysTokens != nil
            } ? nil : total(summaries.map(\.last30DaysCostUSD)),
            last30DaysTokens: total(summaries.map(\.last30DaysTokens)),
            daily: days.isEmpty ? nil : sumOfDays(days.flatMap { $0 }),
            historyDays: summaries.compactMap(\.historyDays).max(),
            historyCoverageIsEstablished: summaries.contains {
                $0.historyCoverageIsEstablished == false
            } ? false : summaries.compactMap(\.historyCoverageIsEstablished).first,
            unpricedRequests: total(summaries.map(\.unpricedRequests)),
            unpricedTokens: summaries.contains {
                $0.unpricedRequests ?? 0 > 0 && $0.unpricedTokens == nil
            } ? nil : total(summaries.map(\.unpricedTokens)),
            hourly: sumOfHours(summaries))
    }

    /// Nil unless all devices state hours: a reader would miss the others'.
    private static func sumOfHours(_ summaries: [SyncCostSummary]) -> [SyncHourlyCost]? {
        let lists = summaries.compactMap(\.hourly)
        guard lists.count == summaries.count else { return nil }
        let byHour = Dictionary(grouping: lists.flatMap { $0 }, by: \.hour)
        return byHour.keys.sorted().map { hour in
            let parts = byHour[hour] ?? []
            return SyncHourlyCost(
                hour: hour, totalTokens: total(parts.map(\.totalTokens)) ?? 0,
                costUSD: parts.reduce(0) { $0 + $1.costUSD }, unpricedTokens: total(parts.map(\.unpricedTokens)) ?? 0)
        }
    }

    private static func sumOfDays(_ days: [SyncDailyCost]) -> [SyncDailyCost] {
        let byKey = Dictionary(grouping: days, by: \.dayKey)
        return byKey.keys.sorted().map { key in
            let parts = byKey[key] ?? []
            return SyncDailyCost(
                dayKey: key,
                costUSD: total(parts.map(\.costUSD)),
                totalTokens: total(parts.map(\.totalTokens)),
                modelBreakdowns: sumOfRows(parts.compactMap(\.modelBreakdowns)),
                serviceBreakdowns: sumOfRows(parts.compactMap(\.serviceBreakdowns)),
                unpricedTokens: total(parts.map(\.unpricedTokens)))
        }
    }

    private static func sumOfRows(_ lists: [[SyncCostBreakdown]]) -> [SyncCostBreakdown]? {
        guard !lists.isEmpty else { return nil }
        let byLabel = Dictionary(grouping: lists.flatMap { $0 }, by: \.label)
        return byLabel.keys.sorted().map { label in
            SyncCostBreakdown(label: label, costUSD: (byLabel[label] ?? []).reduce(0) { $0 + $1.costUSD })
        }
    }

    private static func total(_ values: [Double?]) -> Double? {
        let known = values.compactMap { $0 }
        return known.isEmpty ? nil : known.reduce(0, +)
    }

    private static func total(_ values: [Int?]) -> Int? {
        let known = values.compactMap { $0 }
        guard let first = known.first else { return nil }
        return known.dropFirst().reduce(first) { sum, value in
            let (result, overflow) = sum.addingReportingOverflow(value)
            return overflow ? (value > 0 ? Int.max : Int.min) : result
        }
    }
}
