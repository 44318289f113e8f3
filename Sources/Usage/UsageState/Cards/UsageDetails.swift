import Essentials
import SnapshotModels
import TerminalText

/// Rows with amounts, which a bar may compare.
package struct AmountTable: Sendable, Equatable, Encodable {
    package struct Row: Sendable, Equatable, Encodable {
        package let name: String
        /// That of the account, if it is one.
        package var id: String?
        /// The length of the bar.
        package let value: Double
        /// One per column.
        package let texts: [String]

        init(_ name: String, id: String? = nil, value: Double, texts: [String]) {
            self.name = name
            self.id = id
            self.value = value
            self.texts = texts
        }
    }

    package let title: String
    /// Their names; none where they need none.
    package var columns: [String] = []
    package let rows: [Row]
    /// Rows that were left out.
    package let moreCount: Int
}

/// Everything that is known about one provider account, but its card. Strings are escaped.
package struct UsageDetails: Sendable, Encodable {
    package let id: String
    package let notes: [Timed<UsageNote?>]
    /// What was used in the last week, and how it is expected to go on, in the order of the card.
    package let plots: [Plot]
    /// Tokens and cost by day, model and device.
    package let tables: [AmountTable]
    /// Who has seen it.
    package let devices: [String]

    private enum CodingKeys: String, CodingKey {
        case id, notes, plots = "series", tables, devices
    }

    package static let days = 7
    private static let modelCount = 8

    package init(_ provider: ProviderState, _ model: ViewModel) {
        let start = model.now.addingTimeInterval(-86_400 * Double(Self.days))
        self.init(provider, model, series: PlotSeries.all(of: model.data.history, since: start).filter(provider.owns))
    }

    package init(_ provider: ProviderState, _ model: ViewModel, series: [PlotSeries]) {
        id = provider.id
        notes = UsageNote.all(on: provider)
        plots = provider.inCardOrder(series).map { Plot(series: $0, forecast: provider.forecast(of: $0)) }
        let breakdown = CostBreakdown(
            provider.snapshot.costSummary, dayCount: Self.days, now: model.now, zone: model.zone)
        tables = [
            Self.days(breakdown, provider.cost, model.times), Self.models(breakdown, provider.cost),
            Self.devices(provider),
        ].filter { !$0.rows.isEmpty }
        devices = provider.deviceNames.map(VisibleText.escape)
    }

    private static func days(_ breakdown: CostBreakdown?, _ cost: CostState?, _ times: TimeFormatter) -> AmountTable {
        AmountTable(
            title: "Tokens and cost by day",
            rows: (breakdown?.days ?? []).map { day in
                AmountTable.Row(times.day(day.date), day.amount, isUnstated: cost?.isUnstated ?? false)
            }, moreCount: 0)
    }

    private static func models(_ breakdown: CostBreakdown?, _ cost: CostState?) -> AmountTable {
        let models = breakdown?.models ?? []
        var rows = models.prefix(modelCount).map { model in
            AmountTable.Row(
                VisibleText.escape(model.name), value: model.costUSD,
                texts: [AmountFormatter.money(model.costUSD, currency: "USD")])
        }
        let moreCount = models.count - rows.count
        if let unpriced = cost?.last30Days.unpricedText {
            rows.append(AmountTable.Row("not priced", value: 0, texts: [unpriced]))
        }
        return AmountTable(title: "Cost by model, 30 days", rows: rows, moreCount: moreCount)
    }

    private static func devices(_ provider: ProviderState) -> AmountTable {
        AmountTable(
            title: "Tokens and cost by device, 30 days",
            rows: (provider.cost?.parts ?? []).map { part in
                AmountTable.Row(
                    VisibleText.escape(part.device), part.last30Days, isUnstated: provider.cost?.isUnstated ?? false)
            }, moreCount: 0)
    }
}

extension AmountTable.Row {
    init(_ name: String, _ amount: CostState.Amount, isUnstated: Bool) {
        self.init(
            name, value: amount.costUSD,
            texts: [
                AmountFormatter.tokens(amount.tokens),
                amount.costText(isUnstated: isUnstated) ?? "not priced",
            ])
    }
}

extension ProviderState {
    /// Limits that the card no longer has are last.
    fileprivate func inCardOrder(_ series: [PlotSeries]) -> [PlotSeries] {
        let labels = windows.map(\.label.text)
        func place(_ series: PlotSeries) -> Int { labels.firstIndex(of: series.label) ?? labels.count }
        return series.sorted { place($0) < place($1) }
    }

    /// How a limit is expected to go on.
    package func forecast(of series: PlotSeries) -> PlotForecast? {
        windows.first { $0.label.text == series.label }.flatMap {
            PlotForecast(of: $0, observedAt: $0.observedAt)
        }
    }

    package func owns(_ series: PlotSeries) -> Bool {
        series.providerID == snapshot.providerID
            && (series.account ?? "").lowercased() == (snapshot.accountEmail ?? "").lowercased()
    }
}

extension UsageDetails {
    package struct Plot: Sendable, Encodable {
        package let series: PlotSeries
        package let forecast: PlotForecast?

        private enum CodingKeys: CodingKey { case label, samples, resets, reached, forecast }

        /// Times in milliseconds since 1970; a sample as `[time, percent]`, a gap as `[time]`.
        package func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(VisibleText.escape(series.label), forKey: .label)
            try container.encode(
                series.samples.map { sample in
                    [Double(sample.date.milliseconds)] + (sample.percent.map { [$0] } ?? [])
                }, forKey: .samples)
            try container.encode(series.resets.map(\.milliseconds), forKey: .resets)
            try container.encode(series.reached.map(\.milliseconds), forKey: .reached)
            try container.encode(
                (forecast?.points ?? []).map { [Double($0.date.milliseconds), $0.percent] }, forKey: .forecast)
        }
    }
}
