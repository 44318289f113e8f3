import Essentials
import SnapshotModels
import TerminalText

/// Whether all is fine, and what ends first: the first line of every screen.
package struct UsageAnswer: Sendable, Equatable, Encodable {
    package let tone: Tone
    /// The same, said in less and less room; never empty. Escaped.
    package let forms: [TimedText]

    /// Times at which it may be another one; further ones are left out.
    private static let changeLimit = 256
    private static let nameCells = 24

    /// - Parameter providers: those that it is about; nil for all.
    package init(_ model: ViewModel, of providers: [ProviderState]? = nil) {
        self.init(model, providers ?? model.providers, measure: model.options.measure, at: model.now)
    }

    /// The answer as long as the store has the same values.
    static func byTime(
        _ model: ViewModel, of providers: [ProviderState], measure: ViewOptions.Measure
    ) -> Timed<UsageAnswer> {
        let ends = model.pausedAgents.map(\.until)
        let dates = (providers.flatMap(\.turningPoints) + ends).filter { $0 > model.now }.sorted()
        return Timed(changingAt: Array(dates.prefix(changeLimit))) { date in
            UsageAnswer(model, providers, measure: measure, at: max(date, model.now))
        }
    }

    private init(
        _ model: ViewModel, _ providers: [ProviderState], measure: ViewOptions.Measure, at time: Date
    ) {
        if let empty = EmptyState(model) {
            self.init(.warning, [empty.title + (empty.steps.first.map { " \($0)" } ?? ""), empty.title])
            return
        }
        let items = providers.flatMap { $0.items(at: time) }
        let known = items.filter { $0.urgency != nil }
        guard let first = UsageItem.mostUrgent(of: items, at: time) else {
            self.init(.dim, ["No limits reported."])
            return
        }
        let isShared = providers.filter { $0.snapshot.providerID == first.provider.snapshot.providerID }.count > 1
        let subject = Self.name(of: first, isAccountShown: isShared)
        guard let urgency = first.urgency else {
            self.init(.warning, Self.withoutNumber(first, subject, measure))
            return
        }
        let waiting = model.pausedAgents.count { $0.until > time }
        let waits = waiting == 0 ? "" : waiting == 1 ? " · 1 agent waits" : " · \(waiting) agents wait"
        let needing = known.filter { $0.urgency?.needsAttention ?? false }.count
        let exact = first.usedPercent.map { measure.short(used: $0) } ?? ""
        let number = first.isEstimate ? AmountFormatter.approximate(exact) : exact
        let percent = first.isAtLeast ? measure.bound + number : number
        let end = first.window?.warning
        guard needing > 0 else {
            let lasts = first.window?.pace.map { $0.runsOutAt == nil } ?? false
            let outlook: TimedText = lasts ? ", lasts" : first.resetsAt.map { ", resets \(at: $0)" } ?? ""
            let next = TimedText("\(subject) \(percent)")
            let unknown = Self.unknown(among: providers, at: time)
            let claim: TimedText = unknown == nil ? "All fine" : "Fine as far as known"
            let fine = TimedText.joined(claim, unknown ?? "")
            let forms = [fine + " · next: " + next + outlook, fine + " · " + next, fine, claim]
            self.init(
                unknown == nil ? .good : .watch, (waits.isEmpty ? [] : forms.map { $0 + TimedText(waits) }) + forms)
            return
        }
        let count =
            known.count == 1 ? "1 limit needs" : "\(needing) of \(known.count) limits need\(needing == 1 ? "s" : "")"
        let isReached = (first.usedPercent ?? 0) >= 100
        let state = TimedText(isReached ? "\(subject) used up" : "\(subject) \(percent)")
        let reset: TimedText = first.resetsAt.map { "resets \(at: $0)" } ?? ""
        let out: TimedText = end.map { $0 > time ? "out \(at: $0)" : "may have run out" } ?? ""
        let rest: TimedText = out.isEmpty || reset.isEmpty ? out + reset : out + ", " + reset
        let least = out.isEmpty ? reset : out
        let tool = Self.name(of: first, isAccountShown: false)
        let forms: [TimedText] = [
            "\(count) you · " + TimedText.joined(state, rest), TimedText.joined(state, rest),
            TimedText.joined(state, least), state, TimedText(isReached ? "\(tool) used up" : "\(tool) \(percent)"),
        ]
        self.init(
            urgency == .critical ? .bad : .warning,
            (waits.isEmpty ? [] : forms.map { $0 + TimedText(waits) }) + forms)
    }

    private init(_ tone: Tone, _ forms: [TimedText]) {
        self.tone = tone
        self.forms = forms
    }

    /// "Claude Opus", "Codex dev@example.test weekly".
    private static func name(of item: UsageItem, isAccountShown: Bool) -> String {
        let snapshot = item.provider.snapshot
        var account = isAccountShown ? VisibleText.escape(snapshot.accountEmail ?? "") : ""
        // "dev@example.test (Plus)" is told by its end from another account with the address.
        if CellWidth.of(account) > nameCells, account.hasSuffix(")"),
            let end = account.ranges(of: " (").last?.lowerBound
        {
            let plan = String(account[end...])
            account = String(account[..<end]).truncated(toCells: max(6, nameCells - CellWidth.of(plan))) + plan
        }
        return [snapshot.providerName, account, item.window?.label.spoken ?? ""].filter { !$0.isEmpty }
            .map { VisibleText.escape($0).truncated(toCells: nameCells) }.joined(separator: " ")
    }

    /// "Claude unknown since 19:23": of which accounts nothing is known now, although something may happen there. A
    /// tool that is idle on a machine that pushes is not among them, nor one whose limits have been reset.
    private static func unknown(among providers: [ProviderState], at time: Date) -> TimedText? {
        let unknown = providers.filter { provider in
            provider.items(at: time).allSatisfy { item in
                switch item.condition {
                case .error, .clockAhead: true
                case .stale: !provider.isPushedSince && item.urgency == nil
                case .current, .cached, .expired, .noWindow: false
                }
            }
        }
        guard let first = unknown.first else { return nil }
        if unknown.count > 1 { return "\(String(unknown.count)) accounts unknown" }
        let name = VisibleText.escape(first.snapshot.providerName).truncated(toCells: nameCells)
        return first.snapshot.isError && first.windows.isEmpty
            ? "\(name) unreadable" : "\(name) unknown since \(at: first.snapshot.lastUpdated)"
    }

    private static func withoutNumber(
        _ item: UsageItem, _ subject: String, _ measure: ViewOptions.Measure
    ) -> [TimedText] {
        let percent = item.usedPercent.map { measure.short(used: $0) } ?? ""
        let observed = item.observedAt
        return switch item.condition {
        case .clockAhead:
            ["Clock ahead · \(subject) \(percent), observed in the future", "Clock ahead · \(subject) \(percent)"]
        case .error: ["\(subject): the limits cannot be read · usage-push explain", "\(subject): unreadable"]
        case .expired:
            [
                "\(subject) " + (item.resetsAt.map { "\(reset: $0)" } ?? "reset") + ", no newer data",
                "\(subject) reset, no newer data",
            ]
        case .noWindow: ["No limits reported · \(subject) read \(ago: observed)", "No limits reported"]
        case .current, .cached, .stale:
            ["Stale since \(at: observed) · \(subject) was \(percent)", "Stale since \(at: observed)"]
        }
    }
}

/// The answer in both measures, between which the reader can choose, as long as the store has the same values.
package struct UsageAnswers: Sendable, Equatable, Encodable {
    private let used: Timed<UsageAnswer>
    private let left: Timed<UsageAnswer>

    package init(_ model: ViewModel, of providers: [ProviderState]) {
        used = UsageAnswer.byTime(model, of: providers, measure: .used)
        left = UsageAnswer.byTime(model, of: providers, measure: .left)
    }
}

extension ViewOptions.Measure {
    /// What is said of a number since which use can only have grown.
    package var bound: String { self == .used ? "at least " : "at most " }

    /// "43 %" used, "57 % left".
    package func short(used: Double) -> String {
        AmountFormatter.percent(percent(used: used), isLeft: self == .left) + (self == .left ? " left" : "")
    }
}

extension WindowLabel {
    /// "5h", "weekly", "Opus".
    fileprivate var spoken: String { kind == .weekly ? "weekly" : short }
}
