import Essentials
import SnapshotModels
import TerminalText

/// Whether what is said is good news.
package enum Tone: String, Sendable, Encodable {
    case plain, dim, good, warning, bad

    package init(_ level: WindowState.Level) {
        self =
            switch level {
            case .critical: .bad
            case .low: .warning
            case .comfortable: .good
            }
    }
}

/// Something that is said, and how it is meant.
package struct TonedText: Sendable, Equatable, Encodable {
    package let text: TimedText
    package let tone: Tone

    package init(_ text: TimedText, _ tone: Tone = .plain) {
        self.text = text
        self.tone = tone
    }
}

/// What a card says about a provider account: the terminal and the page draw the same one. Strings are escaped.
package struct UsageCard: Sendable, Equatable, Encodable {
    package struct Gauge: Sendable, Equatable {
        package let usedPercent: Double
        package let isEstimate: Bool
        /// Empty without a reset.
        package let reset: TimedText
        /// Pace, or amounts; may be empty.
        package let details: TimedText

        package var level: WindowState.Level { WindowState.Level(remainingPercent: 100 - usedPercent) }
    }

    package enum Content: Sendable, Equatable {
        case gauge(Gauge)
        case text(TonedText)
    }

    package struct Row: Sendable, Equatable, Encodable {
        package let label: String
        package let content: Timed<Content>
    }

    package let id: String
    package let name: String
    package let account: String?
    package let plan: String?
    /// The age of the numbers.
    package let age: Timed<TonedText>
    /// Windows, credits, budget and cost.
    package let rows: [Row]
    package let status: TonedText?

    package init(_ provider: ProviderState) {
        let snapshot = provider.snapshot
        id = provider.id
        name = VisibleText.escape(snapshot.providerName)
        account = snapshot.accountEmail.map(VisibleText.escape).flatMap { $0.isEmpty ? nil : $0 }
        plan = snapshot.loginMethod.map(VisibleText.escape).flatMap { $0.isEmpty ? nil : $0 }
        let observed = snapshot.lastUpdated
        age = provider.freshnessByTime.map { freshness in
            switch freshness {
            case .fresh: TonedText("\(ago: observed)", .dim)
            case .cached: TonedText("as of \(ago: observed)", .dim)
            case .stale: TonedText("stale, as of \(ago: observed)", .warning)
            case .clockAhead: TonedText("clock ahead", .warning)
            }
        }
        var rows = provider.windows.map { Self.row($0, isEstimate: snapshot.isEstimate) }
        if let credits = snapshot.credits?.summary { rows.append(Row("Credits", credits)) }
        if let budget = snapshot.budget { rows.append(Self.row(budget)) }
        if let cost = provider.cost?.summary { rows.append(Row("Cost", cost)) }
        let message = VisibleText.escapedLines(snapshot.statusMessage ?? "", limit: 4).joined(separator: " ")
        if snapshot.isError {
            status = TonedText("error: \(message.isEmpty ? "no reason given" : message)", .bad)
        } else {
            status = message.isEmpty ? nil : TonedText(TimedText(message), .dim)
        }
        if rows.isEmpty, status == nil { rows = [Row("", Timed(.text(TonedText("no limits reported", .dim))))] }
        self.rows = rows
    }

    private static func row(_ state: WindowState, isEstimate: Bool) -> Row {
        let label = VisibleText.escape(state.label.text)
        let end = state.window.resetsAt
        let expired = end.map { Content.text(TonedText("\(reset: $0), no newer data", .dim)) }
        if state.isExpired, let expired { return Row(label, Timed(expired)) }
        let gauge = Content.gauge(
            Gauge(
                usedPercent: state.window.usedPercent, isEstimate: isEstimate,
                reset: end.map(TimedText.reset) ?? "", details: state.pace?.text ?? ""))
        guard let end, let expired else { return Row(label, Timed(gauge)) }
        return Row(label, Timed(gauge, [(from: end, value: expired)]))
    }

    private static func row(_ budget: SyncBudget) -> Row {
        let amounts = TimedText.joined(
            TimedText(
                AmountFormatter.ratio(
                    budget.usedAmount, of: budget.limitAmount, currency: VisibleText.escape(budget.currencyCode))),
            budget.resetsAt.map(TimedText.reset) ?? "")
        guard budget.limitAmount > 0 else { return Row("Budget", Timed(.text(TonedText(amounts)))) }
        return Row(
            "Budget",
            Timed(
                .gauge(
                    Gauge(
                        usedPercent: budget.usedAmount / budget.limitAmount * 100,
                        isEstimate: false, reset: "", details: amounts))))
    }
}

extension UsageCard.Row {
    fileprivate init(_ label: String, _ content: Timed<UsageCard.Content>) { self.init(label: label, content: content) }

    fileprivate init(_ label: String, _ text: String) { self.init(label, Timed(.text(TonedText(TimedText(text))))) }
}

extension UsageCard.Content: Encodable {
    private enum CodingKeys: CodingKey { case gauge, text, tone }

    /// A gauge as `{"gauge": …}`, text as `{"text": …, "tone": …}`.
    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .text(let text): try text.encode(to: encoder)
        case .gauge(let gauge):
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(gauge, forKey: .gauge)
        }
    }
}

extension UsageCard.Gauge: Encodable {
    private enum CodingKeys: CodingKey { case used, left, tone, level, isEstimate, reset, details }

    private struct Amount: Encodable {
        var percent: Double
        var text: String

        init(_ measure: ViewOptions.Measure, _ used: Double) {
            percent = min(max(measure.percent(used: used), 0), 100)
            text = measure.text(used: used)
        }
    }

    /// With both measures, between which the reader can choose. The percentages are the lengths of bars.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Amount(.used, usedPercent), forKey: .used)
        try container.encode(Amount(.left, usedPercent), forKey: .left)
        try container.encode(Tone(level), forKey: .tone)
        try container.encode(level, forKey: .level)
        try container.encode(isEstimate, forKey: .isEstimate)
        try container.encode(reset, forKey: .reset)
        try container.encode(details, forKey: .details)
    }
}
