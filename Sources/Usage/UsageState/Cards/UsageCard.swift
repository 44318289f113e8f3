package import Essentials
import SnapshotModels
import TerminalText

/// Whether what is said is good news.
package enum Tone: String, Sendable, Encodable {
    case plain, dim, good, watch, warning, bad

    package init(_ urgency: Urgency) {
        self =
            switch urgency {
            case .critical: .bad
            case .runsOut: .warning
            case .low: .watch
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
        package let urgency: Urgency
        /// Whether it is not known to be that of now.
        package let isOld: Bool
        /// Whether it is an estimate, or not known to be that of now.
        package let isApproximate: Bool
        /// Whether it is an earlier one that was critical: until the reset, use only grows.
        package fileprivate(set) var isAtLeast = false
        package fileprivate(set) var resetsAt: Date?
        /// "resets in 3d 4h"; empty without a reset.
        package var reset: TimedText { resetsAt.map(TimedText.reset) ?? "" }
        /// "out Mon 13:45" where the limit runs out before its reset, "may have run out" from then on; else empty.
        package var out: TimedText {
            runsOutAt.map { mayHaveRunOut ? "may have run out" : "out \(at: $0)" } ?? ""
        }
        package var shortOut: TimedText { runsOutAt.map { mayHaveRunOut ? "now" : "\(at: $0)" } ?? "" }
        fileprivate var runsOutAt: Date?
        fileprivate var mayHaveRunOut = false
        /// Amounts; may be empty.
        package fileprivate(set) var details: TimedText = ""
        /// The time in which an even use would reach 100 %; nil without a length or a reset.
        package fileprivate(set) var span: Range<Date>?

        /// What an even use would have used by now, in whole percent.
        package func evenPercent(at time: Date) -> Double? {
            span.map { span in
                let part = time.timeIntervalSince(span.lowerBound) / span.upperBound.timeIntervalSince(span.lowerBound)
                return (min(max(part, 0), 1) * 100).rounded(.down)
            }
        }
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
    /// The device that they come from.
    package let source: String?
    package let rank: Timed<UsageRank>
    /// Windows, credits, budget and cost.
    package let rows: [Row]
    /// How many of the rows are windows.
    package let windowCount: Int
    /// The row that stands for all where there is room for one.
    package let leading: Timed<Int>
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
        source = provider.source.map(VisibleText.escape)
        let first = provider.firstByTime
        rank = first.map(\.rank)
        leading = first.map(\.index)
        windowCount = provider.windows.count
        var rows = provider.windows.map { Self.row($0, of: provider) }
        if let credits = snapshot.credits?.summary { rows.append(Row("Credits", credits)) }
        if let budget = snapshot.budget { rows.append(Self.row(budget, of: provider)) }
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

    private static func row(_ state: WindowState, of provider: ProviderState) -> Row {
        let end = state.window.resetsAt
        let length = state.window.windowMinutes.map { TimeInterval($0) * 60 }
        let isOlder = state.observedAt < provider.snapshot.lastUpdated
        let dates =
            provider.freshness(of: state).changes.compactMap(\.from) + [end, state.warning].compactMap { $0 }
        let content = Timed<Content>(changingAt: dates) { time in
            let condition = UsageItem.condition(of: state, in: provider, at: time)
            if condition == .expired, let end { return .text(TonedText("\(reset: end), no newer data", .dim)) }
            let isOld = UsageItem.urgency(of: state, condition) == nil
            return .gauge(
                Gauge(
                    usedPercent: state.window.usedPercent, urgency: state.urgency, isOld: isOld,
                    isApproximate: isOld || provider.snapshot.isEstimate, isAtLeast: !isOld && !condition.isKnown,
                    resetsAt: end,
                    runsOutAt: state.warning, mayHaveRunOut: state.warning.map { $0 <= time } ?? false,
                    details: isOlder ? "as of \(ago: state.observedAt)" : "",
                    span: end.flatMap { end in
                        length.flatMap { $0 > 0 ? end.addingTimeInterval(-$0)..<end : nil }
                    }))
        }
        return Row(VisibleText.escape(state.label.text), content)
    }

    private static func row(_ budget: SyncBudget, of provider: ProviderState) -> Row {
        let amounts = TimedText.joined(
            TimedText(
                AmountFormatter.ratio(
                    budget.usedAmount, of: budget.limitAmount, currency: VisibleText.escape(budget.currencyCode))),
            budget.resetsAt.map(TimedText.reset) ?? "")
        guard budget.limitAmount > 0 else { return Row("Budget", Timed(.text(TonedText(amounts)))) }
        let used = budget.usedAmount / budget.limitAmount * 100
        return Row(
            "Budget",
            provider.freshnessByTime.map { freshness in
                let isOld = freshness == .stale || freshness == .clockAhead
                return .gauge(
                    Gauge(
                        usedPercent: used, urgency: .left(100 - used), isOld: isOld,
                        isApproximate: isOld, details: amounts))
            })
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
    private enum CodingKeys: CodingKey {
        case used, left, tone, urgency, isApproximate, isAtLeast, isOld, reset, out, details, span
    }

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
        try container.encode(Tone(urgency), forKey: .tone)
        try container.encode(urgency, forKey: .urgency)
        if isApproximate { try container.encode(true, forKey: .isApproximate) }
        if isAtLeast { try container.encode(true, forKey: .isAtLeast) }
        if isOld { try container.encode(true, forKey: .isOld) }
        try container.encode(reset, forKey: .reset)
        try container.encode(out, forKey: .out)
        try container.encode(details, forKey: .details)
        try container.encodeIfPresent(
            span.map { [$0.lowerBound.milliseconds, $0.upperBound.milliseconds] }, forKey: .span)
    }
}
