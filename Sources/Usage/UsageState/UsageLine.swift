package import Essentials
import SnapshotModels
import TerminalText

/// What a status line says: a few windows, and when it says something else without new data.
package struct UsageLine: Sendable, Equatable {
    package let items: [UsageItem]
    /// All selected windows, for a form that can be opened.
    package let details: [UsageItem]
    /// Why there are no items.
    package let situation: ViewModel.Situation
    /// Whether this machine has been removed from the account, so that nothing newer comes.
    package let isRemoved: Bool
    /// When the line is to be made again although nothing was pushed; nil if never.
    package let nextChange: Date?

    /// Windows beyond this are left out.
    private static let itemLimit = 24

    /// The selected window that ends first, or all of them, in order of the named providers.
    package init(_ model: ViewModel, selection: UsageSelection = UsageSelection()) {
        let states = model.providers
        let all = selection.items(of: states, at: model.now)
        items =
            selection.providers.isEmpty
            ? UsageItem.mostUrgent(of: all, at: model.now).map { [$0] } ?? []
            : Array(all.prefix(Self.itemLimit))
        details = Array(all.prefix(Self.itemLimit))
        situation = model.situation
        isRemoved = model.data.link.state == .removed
        let now = model.now
        // A hidden window may become the one that ends first.
        nextChange = all.compactMap { $0.nextChange(after: now) }.min()
    }
}

/// The parts of which a short form of an item is made, as text that any terminal can show.
package struct UsageFields: Sendable, Equatable {
    package let provider: String
    package let id: String
    package let account: String
    package let plan: String
    /// "5h", "7d", "Opus".
    package let window: String
    /// "42 %", "~42 %" if it is not known to be that of now; "–" without one.
    package let used: String
    package let left: String
    /// "used" or "left", as asked for, and the number for it.
    package let measure: String
    package let percent: String
    /// "1h 30m"; empty without a reset to come.
    package let reset: String
    /// "13:30"; empty without a reset.
    package let clock: String
    /// "12 min ago".
    package let age: String
    /// "ahead of pace · runs out in 50m"; empty without a pace.
    package let pace: String
    /// "▲ out Mon 13:45" if the limit is reached well before its reset; else empty.
    package let out: String
    package let level: String
    /// What its color says: "!!", "!" or nothing.
    package let sign: String
    /// What to say instead of a percentage; nil if there is one.
    package let absence: String?
    /// "12 min ago", "clock ahead"; nil for a number of now.
    package let warning: String?

    package init(_ item: UsageItem, measure: ViewOptions.Measure, times: TimeFormatter) {
        let snapshot = item.provider.snapshot
        var clock = times
        clock.isAbsolute = true
        let mark = item.isEstimate || !item.condition.isKnown ? AmountFormatter.approximate : { $0 }
        provider = VisibleText.escape(snapshot.providerName)
        id = VisibleText.escape(snapshot.providerID)
        account = VisibleText.escape(snapshot.accountEmail ?? "")
        plan = VisibleText.escape(snapshot.loginMethod ?? "")
        window = VisibleText.escape(item.window?.label.short ?? "")
        used = item.usedPercent.map { mark(AmountFormatter.percent($0)) } ?? "–"
        left = item.remainingPercent.map { mark(AmountFormatter.percent($0, isLeft: true)) } ?? "–"
        self.measure = measure.rawValue
        percent = measure == .used ? used : left
        age = clock.age(item.observedAt)
        level = item.levelName
        sign = item.urgency?.sign ?? ""
        pace = item.condition.isKnown ? item.window?.pace?.text.text(times) ?? "" : ""
        let end = item.condition.isKnown ? item.window?.warning : nil
        out =
            end.map { "\(Urgency.outSign) " + ($0 > times.now ? "out " + times.brief($0) : "may have run out") } ?? ""
        let resetsAt = item.resetsAt
        reset =
            item.condition == .expired
            ? "" : resetsAt.map { DurationFormatter.countdown(to: $0, from: times.now) } ?? ""
        self.clock = resetsAt.map(clock.clock) ?? ""
        absence =
            switch item.condition {
            case .expired: resetsAt.map(times.reset) ?? "reset"
            case .error: "error"
            case .noWindow: "no limits"
            case .current, .cached, .stale, .clockAhead: nil
            }
        warning =
            switch item.condition {
            case .cached, .stale: age
            case .clockAhead: "clock ahead"
            case .current, .expired, .error, .noWindow: nil
            }
    }
}

extension TimeFormatter {
    /// "12 min ago", whether or not other times are those of a clock.
    fileprivate func age(_ date: Date) -> String { DurationFormatter.age(of: date, at: now) }
}
