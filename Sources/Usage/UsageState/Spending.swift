import Essentials
import SnapshotModels
import TerminalText

/// Tokens and cost of all accounts, by the viewer's days. Strings are escaped.
package struct Spending: Sendable, Encodable {
    package static let dayCount = 30
    private static let modelCount = 12

    /// Today, 7 days and 30 days: all first, and then the accounts, by what they cost.
    package let accounts: AmountTable
    /// In order of time; the last one is today. The last 30, or from a Monday on up to 53 weeks if the year is known;
    /// empty if no writer states days either.
    package let days: [Day]
    /// What the days add up to and the record among them; nil if the year is not known.
    package let year: Year?
    /// What 30 days cost by model, and by tool and device where several accounts share one.
    package let tables: [AmountTable]

    /// Nil without costs and without a year.
    package init?(_ providers: [ProviderState], _ model: ViewModel) {
        let spending = providers.compactMap { provider in provider.cost.map { (provider, $0) } }
        let year = model.year(of: providers)
        guard !spending.isEmpty || year != nil else { return nil }
        let costs = spending.map(\.1)
        let isUnstated = costs.contains(where: \.isUnstated)
        let isPartial = costs.contains(where: \.isPartial)
        let rows = spending.map { provider, cost in
            AmountTable.Row(
                provider.title, id: provider.id, value: cost.last30Days.weight, texts: Self.texts([cost]))
        }
        let all = AmountTable.Row("All accounts", value: 0, texts: Self.texts(costs))
        accounts = AmountTable(
            title: isPartial ? "Cost, still reading" : "Cost", columns: ["today", "7 days", "30 days"],
            rows: (rows.count != 1 ? [all] : []) + rows.sorted { ($1.value, $0.name) < ($0.value, $1.name) },
            moreCount: 0)
        let breakdowns = providers.compactMap {
            CostBreakdown($0.snapshot.costSummary, dayCount: Self.dayCount, now: model.now, zone: model.zone)
        }
        let calendar = SpendingCalendar(breakdowns, year, isUnstated: isUnstated, model.times)
        days = calendar.days
        self.year = year == nil ? nil : calendar.year

        func table(_ title: String, _ amounts: [(name: String, amount: CostState.Amount)]) -> AmountTable {
            let rows = Dictionary(grouping: amounts, by: \.name).map { name, amounts in
                AmountTable.Row(VisibleText.escape(name), amounts.map(\.amount).total, isUnstated: isUnstated)
            }
            return AmountTable(
                title: title, columns: ["tokens", "cost"],
                rows: rows.sorted { ($1.value, $0.name) < ($0.value, $1.name) }, moreCount: 0)
        }
        let tools = table("By tool, 30 days", spending.map { ($0.snapshot.providerName, $1.last30Days) })
        let devices = table("By device, 30 days", spending.flatMap(\.0.costsByDevice))
        tables = [
            tools.rows.count < spending.count ? tools : nil, Self.models(breakdowns),
            devices.rows.count > 1 ? devices : nil,
        ].compactMap { $0 }.filter { !$0.rows.isEmpty }
    }

    /// Those of an account, or of all together: a sum of 7 days is not known where one of them is not.
    private static func texts(_ costs: [CostState]) -> [String] {
        let weeks = costs.compactMap(\.last7Days)
        let amounts = [
            costs.map(\.today).total, weeks.count == costs.count ? weeks.total : nil, costs.map(\.last30Days).total,
        ]
        let isUnstated = costs.contains(where: \.isUnstated)
        return amounts.map { $0?.text(isUnstated: isUnstated) ?? "–" }
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
}

/// Spending as JSON.
package struct SpendingDocument: Sendable, Encodable {
    package var schemaVersion = 1
    /// Nil without costs.
    package var spending: Spending?

    package init(spending: Spending?) { self.spending = spending }
}

extension ProviderState {
    /// What each device has added in 30 days.
    fileprivate var costsByDevice: [(name: String, amount: CostState.Amount)] {
        guard let cost else { return [] }
        return costSource.map { [($0, cost.last30Days)] } ?? cost.parts.map { ($0.device, $0.last30Days) }
    }
}
