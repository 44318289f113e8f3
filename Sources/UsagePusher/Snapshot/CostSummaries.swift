import Foundation
import SnapshotModels

/// The tokens of this machine as they are pushed: for each tool a summary of the last 30 days.
struct CostSummaries {
    private static let dayCount = 30
    private static let modelLimit = 16

    /// By provider id.
    let byProvider: [String: (summary: SyncCostSummary, lastRequest: Date)]

    /// - Parameter zone: of the days for readers that know no hours.
    init(_ usage: TokenUsage, at now: Date, zone: TimeZone = .current) {
        var calendar = DayCalendar(zone)
        let today = calendar.day(of: now)
        var sums: [String: Sum] = [:]
        for bucket in usage.buckets {
            let day = calendar.day(ofQuarter: bucket.key.quarter)
            guard day > today - Self.dayCount, day <= today else { continue }
            sums[usage.session(of: bucket).source, default: Sum()].add(
                bucket, model: usage.model(of: bucket), day: day)
        }
        byProvider = sums.mapValues { sum in
            (
                sum.summary(today: today, isComplete: !usage.isPartial),
                Date(timeIntervalSince1970: Double(sum.last) / 1_000)
            )
        }
    }

    private struct Amount {
        var tokens = 0
        var cost = CostSums()
        var dollars: Double { cost.dollars(.auto) }

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
                        dayKey: DayCalendar.key(ofDay: day), costUSD: amount.dollars,
                        totalTokens: amount.tokens, modelBreakdowns: Self.breakdown(models),
                        serviceBreakdowns: [])
                },
                historyDays: CostSummaries.dayCount, historyCoverageIsEstablished: isComplete,
                unpricedRequests: unknown == 0 ? nil : unknown,
                hourly: hours.keys.sorted().map { hour in
                    let amount = hours[hour] ?? Amount()
                    return SyncHourlyCost(
                        hour: hour, totalTokens: amount.tokens, costUSD: amount.dollars)
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

/// The days of a time zone, as numbers since 1970.
struct DayCalendar {
    private let zone: TimeZone
    /// Seconds east of UTC by quarter of an hour.
    private var offsets: [UInt32: Int] = [:]

    init(_ zone: TimeZone) { self.zone = zone }

    mutating func day(ofQuarter quarter: UInt32) -> Int {
        let seconds = Int(quarter) * 900
        let offset =
            offsets[quarter]
            ?? zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
        offsets[quarter] = offset
        return Self.day(ofSeconds: seconds + offset)
    }

    mutating func day(of date: Date) -> Int {
        day(ofQuarter: UInt32(clamping: Int(date.timeIntervalSince1970) / 900))
    }

    private static func day(ofSeconds seconds: Int) -> Int {
        Int((Double(seconds) / 86_400).rounded(.down))
    }

    /// "2026-09-18".
    static func key(ofDay day: Int) -> String {
        Date(timeIntervalSince1970: Double(day) * 86_400)
            .formatted(Date.ISO8601FormatStyle(timeZone: .gmt).year().month().day())
    }
}
