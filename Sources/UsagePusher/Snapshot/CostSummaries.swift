import ClockZones
import Essentials
import SnapshotModels

/// The tokens of this machine as they are pushed: for each tool a summary of the last 30 days.
struct CostSummaries {
    private static let dayCount = 30
    private static let modelLimit = 16

    /// By provider id.
    let byProvider: [String: (summary: SyncCostSummary, lastRequest: Date)]

    /// Before all days that count, in any time zone; see `TokenBucket.Key.quarter`.
    static func firstQuarter(at now: Date) -> UInt32 {
        let seconds = now.timeIntervalSince1970 - Double(dayCount + 1) * 86_400
        return UInt32(exactly: (seconds / Double(TokenBucket.quarter / 1_000)).rounded(.down)) ?? 0
    }

    /// - Parameter zone: of the days for readers that know no hours.
    init(_ usage: TokenUsage, at now: Date, zone: ClockZone = .local) {
        var clock = ReportClock(zone: zone)
        let today = clock.day(of: Int64(now.timeIntervalSince1970 * 1_000)).number
        var sums: [String: Sum] = [:]
        for bucket in usage.buckets {
            let day = clock.day(of: Int64(bucket.key.quarter) * TokenBucket.quarter).number
            guard day > today - Self.dayCount, day <= today else { continue }
            sums[usage.session(of: bucket).source, default: Sum()].add(bucket, model: usage.model(of: bucket), day: day)
        }
        byProvider = sums.reduce(into: [:]) { summaries, sum in
            let (source, sum) = sum
            summaries[source] = (
                sum.summary(today: today, isComplete: usage.gap(of: source) == nil),
                Date(timeIntervalSince1970: Double(sum.last) / 1_000)
            )
        }
    }

    private struct Amount {
        var tokens = 0
        var cost = CostSums()
        var dollars: Double { cost.dollars(.auto) }
        /// Nil when all have a price.
        var unpricedTokens: Int? { cost.unknownTokens > 0 ? cost.unknownTokens : nil }

        mutating func add(_ bucket: TokenBucket) {
            tokens &+= bucket.counts.total
            cost += bucket.cost
        }
    }

    private struct Sum {
        var last: Int64 = 0
        private var total = Amount()
        private var days: [Int: (amount: Amount, models: [String: Amount])] = [:]
        private var hours: [Int: Amount] = [:]

        mutating func add(_ bucket: TokenBucket, model: String?, day: Int) {
            last = max(last, bucket.last)
            total.add(bucket)
            days[day, default: (Amount(), [:])].amount.add(bucket)
            days[day]?.models[model ?? "unknown", default: Amount()].add(bucket)
            hours[Int(bucket.key.quarter) / 4, default: Amount()].add(bucket)
        }

        func summary(today: Int, isComplete: Bool) -> SyncCostSummary {
            let unknown = total.cost.unknownCount
            return SyncCostSummary(
                sessionCostUSD: days[today]?.amount.dollars ?? 0,
                sessionTokens: days[today]?.amount.tokens ?? 0,
                last30DaysCostUSD: unknown == 0 ? total.dollars : nil,
                last30DaysTokens: total.tokens,
                daily: days.keys.sorted().map { day in
                    let (amount, models) = days[day] ?? (Amount(), [:])
                    return SyncDailyCost(
                        dayKey: CalendarDay(number: day).description, costUSD: amount.dollars,
                        totalTokens: amount.tokens, modelBreakdowns: Self.breakdown(models),
                        serviceBreakdowns: [], unpricedTokens: amount.unpricedTokens)
                },
                historyDays: CostSummaries.dayCount, historyCoverageIsEstablished: isComplete,
                unpricedRequests: unknown == 0 ? nil : unknown,
                unpricedTokens: unknown == 0 ? nil : total.cost.unknownTokens,
                hourly: hours.keys.sorted().map { hour in
                    let amount = hours[hour] ?? Amount()
                    return SyncHourlyCost(
                        hour: hour, totalTokens: amount.tokens, costUSD: amount.dollars,
                        unpricedTokens: amount.cost.unknownTokens)
                })
        }

        /// The dearest first.
        private static func breakdown(_ models: [String: Amount]) -> [SyncCostBreakdown] {
            models.filter { $0.value.dollars > 0 }
                .sorted { ($1.value.dollars, $0.key) < ($0.value.dollars, $1.key) }
                .prefix(CostSummaries.modelLimit)
                .map { SyncCostBreakdown(label: $0.key, costUSD: $0.value.dollars) }
        }
    }
}
