import ClockZones
import Essentials
import SnapshotModels
import TerminalText

/// Tokens and cost of all accounts, by the viewer's days. Strings are escaped.
package struct Spending: Sendable, Encodable {
    package struct Day: Sendable, Equatable, Encodable {
        /// Days since 1970-01-01, a Thursday.
        package let number: Int
        /// How much it is beside the other days: 0 for nothing, then 1 to 4.
        package let level: Int
        /// "Sat 28 Nov: 1.2M tokens, $3.40".
        package let text: String

        /// From Monday on, which is 0.
        package var weekday: Int { ((number + 3) % 7 + 7) % 7 }
    }

    package static let dayCount = 30
    private static let modelCount = 12

    /// Today, 7 days and 30 days: all first, and then the accounts, by what they cost.
    package let accounts: AmountTable
    /// In order of time; the last one is today. Empty if no writer states days.
    package let days: [Day]
    /// By tool, model and device in 30 days, where there are several.
    package let tables: [AmountTable]

    /// Nil without costs.
    ///
    /// - Parameter providers: nil for all of the model.
    package init?(_ model: ViewModel, of providers: [ProviderState]? = nil) {
        let spending = (providers ?? model.providers).filter { $0.cost != nil }
        guard !spending.isEmpty else { return nil }
        let costs = spending.compactMap(\.cost)
        var rows = zip(spending, costs).map { provider, cost in
            AmountTable.Row(
                provider.title, id: provider.id, value: cost.last30Days.weight, texts: Self.texts(cost))
        }.sorted { $0.value > $1.value }
        if costs.count > 1 {
            let all = AmountTable.Row(
                "All accounts", value: 0,
                texts: Self.texts(
                    today: costs.map(\.today).total, week: costs.compactMap(\.last7Days).total,
                    month: costs.map(\.last30Days).total))
            rows.insert(all, at: 0)
        }
        accounts = AmountTable(
            title: "Tokens and cost", columns: ["today", "7 days", "30 days"], rows: rows, moreCount: 0)
        let breakdowns = spending.compactMap {
            CostBreakdown($0.snapshot.costSummary, dayCount: Self.dayCount, now: model.now, zone: model.zone)
        }
        days = Self.days(breakdowns, model)
        let tools = Dictionary(grouping: zip(spending, costs), by: \.0.snapshot.providerID)
        let devices = Dictionary(grouping: spending.flatMap(\.spendingDevices), by: \.0)
        tables = [
            Self.table(
                "By tool, 30 days",
                tools.count == spending.count
                    ? [] : tools.values.map { ($0[0].0.snapshot.providerName, $0.map(\.1.last30Days).total) }),
            Self.models(breakdowns),
            Self.table(
                "By device, 30 days",
                devices.count < 2 ? [] : devices.map { ($0.key, $0.value.map(\.1).total) }),
        ].filter { !$0.rows.isEmpty }
    }

    private static func texts(_ cost: CostState) -> [String] {
        texts(today: cost.today, week: cost.last7Days, month: cost.last30Days)
    }

    private static func texts(today: CostState.Amount, week: CostState.Amount?, month: CostState.Amount) -> [String] {
        [today.shortText, week?.shortText ?? "", month.shortText]
    }

    private static func table(_ title: String, _ amounts: [(name: String, CostState.Amount)]) -> AmountTable {
        let rows = amounts.map { AmountTable.Row(VisibleText.escape($0.name), $0.1) }
        return AmountTable(
            title: title, columns: ["tokens", "cost"], rows: rows.sorted { ($1.value, $0.name) < ($0.value, $1.name) },
            moreCount: 0)
    }

    private static func models(_ breakdowns: [CostBreakdown]) -> AmountTable {
        var costs: [String: Double] = [:]
        for model in breakdowns.flatMap(\.models) { costs[model.name, default: 0] += model.costUSD }
        let rows = costs.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { name, cost in
            AmountTable.Row(
                VisibleText.escape(name), value: cost, texts: [AmountFormatter.money(cost, currency: "USD")])
        }
        return AmountTable(
            title: "By model, 30 days", columns: ["cost"], rows: Array(rows.prefix(modelCount)),
            moreCount: max(0, rows.count - modelCount))
    }

    private static func days(_ breakdowns: [CostBreakdown], _ model: ViewModel) -> [Day] {
        let stated = breakdowns.map(\.days).filter { !$0.isEmpty }
        guard let first = stated.first else { return [] }
        let amounts = first.indices.map { index in stated.map { $0[index].amount }.total }
        let ranked = amounts.map(\.weight).filter { $0 > 0 }.sorted()
        let seconds = model.now.timeIntervalSince1970 + Double(model.zone.secondsFromGMT(at: model.now))
        let today = Int((seconds / 86_400).rounded(.down))
        return zip(first, amounts).enumerated().map { ago, day in
            let (date, amount) = (day.0.date, day.1)
            let rank = ranked.firstIndex { $0 >= amount.weight } ?? 0
            return Day(
                number: today - ago, level: amount.weight > 0 ? 1 + 4 * rank / ranked.count : 0,
                text: model.times.day(date) + ": "
                    + [AmountFormatter.tokens(amount.tokens), amount.costText() ?? "not priced"].joined(separator: ", ")
            )
        }.reversed()
    }
}

extension [CostState.Amount] {
    fileprivate var total: CostState.Amount {
        CostState.Amount(
            tokens: reduce(0) { $0 &+ $1.tokens }, costUSD: reduce(0) { $0 + $1.costUSD },
            unpricedTokens: reduce(0) { $0 &+ ($1.unpricedTokens ?? 0) })
    }
}

extension CostState.Amount {
    /// What amounts are compared by: the cost, and of what has no price the tokens, as far less.
    fileprivate var weight: Double { costUSD + Double(tokens) / 1e12 }

    /// The cost; the tokens where they have no price.
    fileprivate var shortText: String { costText() ?? AmountFormatter.tokens(tokens) }
}

extension ProviderState {
    /// What each device has added in 30 days.
    fileprivate var spendingDevices: [(String, CostState.Amount)] {
        guard let cost else { return [] }
        if !cost.parts.isEmpty { return cost.parts.map { ($0.device, $0.last30Days) } }
        return deviceNames.prefix(1).map { ($0, cost.last30Days) }
    }
}
