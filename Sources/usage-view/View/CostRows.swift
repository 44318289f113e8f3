import SnapshotModels
import TerminalText

/// Costs and tokens of local logs. Costs are computed from price lists, so they carry a "~".
enum CostRows {
    static func rows(for provider: ProviderState) -> [CardRow] {
        guard let costs = provider.snapshot.costSummary else { return [] }
        var rows: [CardRow] = []
        let money = joined(
            session: costs.sessionCostUSD, month: costs.last30DaysCostUSD,
            { "~" + AmountText.money($0, currency: "USD") })
        if !money.isEmpty { rows.append(CardRow(label: "Cost", content: .text(money, .plain))) }
        let tokens = joined(
            session: costs.sessionTokens, month: costs.last30DaysTokens, AmountText.tokens)
        if !tokens.isEmpty {
            rows.append(CardRow(label: "Tokens", content: .text(tokens, .plain)))
        }
        if !rows.isEmpty { rows += provider.costParts.compactMap(partRow) }
        return rows
    }

    /// One device's share, under the sum that it is part of.
    private static func partRow(_ part: ProviderPart) -> CardRow? {
        guard let costs = part.costSummary else { return nil }
        let month = [
            (costs.last30DaysCostUSD ?? costs.sessionCostUSD).map {
                "~" + AmountText.money($0, currency: "USD")
            },
            (costs.last30DaysTokens ?? costs.sessionTokens).map {
                AmountText.tokens($0) + " tokens"
            },
        ].compactMap { $0 }
        guard !month.isEmpty else { return nil }
        let name = VisibleText.escape(part.deviceName).truncated(toCells: 20)
        let text = "\(name): \(month.joined(separator: ", "))"
        return CardRow(label: "", content: .text(text, .dim))
    }

    private static func joined<Value>(
        session: Value?, month: Value?, _ text: (Value) -> String
    ) -> String {
        [session.map { text($0) + " session" }, month.map { text($0) + " in 30 days" }]
            .compactMap { $0 }.joined(separator: " · ")
    }
}
