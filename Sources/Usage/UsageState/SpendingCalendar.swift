import ClockZones
import Essentials
import SnapshotModels

extension Spending {
    package struct Day: Sendable, Equatable, Encodable {
        /// Days since 1970-01-01, a Thursday.
        package let number: Int
        /// How much it is beside the other days: 0 for nothing, then 1 to 4.
        package let level: Int
        /// "Sat 28 Nov: 1.2M tokens, $3.40".
        package let text: String

        /// From Monday on, which is 0.
        package var weekday: Int { GregorianDay.weekday(number) }
    }

    package struct Year: Sendable, Equatable, Encodable {
        /// "812M tokens, $1234.00 since Mon 24 Nov 2025".
        package let total: String
        /// "Most on Tue 14 Jul: $32.10 · longest streak 12 days"; nil if nothing was used.
        package let record: String?
    }
}

/// The days of spending: the last 30 as the snapshots state them, which are newer, and the others as the year does.
struct SpendingCalendar {
    let days: [Spending.Day]
    let year: Spending.Year

    init(_ breakdowns: [CostBreakdown], _ year: UsageYear?, isUnstated: Bool, _ times: TimeFormatter) {
        let stated = breakdowns.map(\.days).filter { !$0.isEmpty }
        let today = times.zone.day(of: times.now)
        let firstStated = today + 1 - (stated.first?.count ?? 0)
        var first = firstStated
        if let year {
            let monday = today - GregorianDay.weekday(today)
            let mondayOfYear = year.days.lowerBound - GregorianDay.weekday(year.days.lowerBound)
            first = min(
                today + 1 - Spending.dayCount, max(monday + 7 - UsageYear.dayCount, mondayOfYear))
        }
        let numbers = first..<today + 1
        let amounts = numbers.map { number in
            number >= firstStated
                ? stated.map { $0[today - number].amount }.total
                : year?[number] ?? CostState.Amount(tokens: 0, costUSD: 0)
        }
        let ranked = amounts.map(\.weight).filter { $0 > 0 }.sorted()
        let ranks = Dictionary(zip(ranked, 1...).map { ($0, $1) }, uniquingKeysWith: max)
        let days = zip(numbers, amounts).map { number, amount in
            // The year does not say what had no price.
            let isUnpriced = number < firstStated && amount.costUSD == 0 && amount.tokens > 0
            let isUnstated = isUnstated && number >= firstStated
            let cost = isUnpriced ? "" : ", " + (amount.costText(isUnstated: isUnstated) ?? "not priced")
            return Spending.Day(
                number: number, level: ranks[amount.weight].map { (4 * $0 + ranked.count - 1) / ranked.count } ?? 0,
                text: "\(times.day(number: number)): \(AmountFormatter.tokens(amount.tokens))\(cost)")
        }
        self.days = days
        let total = amounts.total
        let most = zip(numbers, amounts).max { $0.1.weight < $1.1.weight }
        self.year = Spending.Year(
            total: "\(AmountFormatter.tokens(total.tokens)), "
                + "\(total.costText(isUnstated: isUnstated) ?? "not priced") since \(times.day(number: first))",
            record: most.flatMap { number, amount in
                guard amount.weight > 0 else { return nil }
                let most =
                    amount.costUSD > 0 ? amount.text(isUnstated: isUnstated) : AmountFormatter.tokens(amount.tokens)
                let streak = Self.longestStreak(of: days)
                return "Most on \(times.day(number: number)): \(most) · "
                    + "longest streak \(streak == 1 ? "1 day" : "\(streak) days")"
            })
    }

    private static func longestStreak(of days: [Spending.Day]) -> Int {
        days.reduce(into: (present: 0, longest: 0)) { streak, day in
            streak.present = day.level > 0 ? streak.present + 1 : 0
            streak.longest = max(streak.longest, streak.present)
        }.longest
    }
}

extension CostState.Amount {
    /// What amounts are compared by: the cost, and of what has no price the tokens, as far less.
    var weight: Double { costUSD + Double(tokens) / 1e12 }
}

extension ViewModel {
    /// The year, unless accounts are left out, of which it knows nothing, or it is over.
    func year(of shown: [ProviderState]) -> UsageYear? {
        let today = zone.day(of: now)
        guard let year = data.year, shown.count == data.usage?.providers.count ?? 0,
            year.days.overlaps(today + 1 - UsageYear.dayCount..<today + 1)
        else { return nil }
        return year
    }

    /// Whether there is anything to say about spending.
    package var hasSpending: Bool { year(of: providers) != nil || providers.contains { $0.cost != nil } }
}
