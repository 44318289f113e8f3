import Essentials
import SnapshotModels
import TerminalText
import UsageState

/// One line of a card before it is laid out.
struct CardRow {
    struct Gauge {
        /// The length of the bar.
        var percent: Double
        var text: String
        var style: TextStyle
        /// Its width decides where all bars end.
        var reset = ""
        /// Parts joined by " · ".
        var details = ""
    }

    enum Content {
        case gauge(Gauge)
        /// Wrapped text in the column of the bars.
        case text(String, TextStyle)
    }

    let label: String
    let content: Content
}

/// A provider account: a heading, a row per window, credits, budget and status.
struct ProviderCard {
    let rows: [CardRow]
    private let provider: ProviderState
    private let model: ViewModel
    private let status: (text: String, style: TextStyle)?

    init(_ provider: ProviderState, model: ViewModel) {
        self.provider = provider
        self.model = model
        let snapshot = provider.snapshot
        var rows = provider.windows.map {
            Self.row(for: $0, isEstimate: snapshot.isEstimate, model: model)
        }
        if let credits = snapshot.credits?.summary {
            rows.append(CardRow(label: "Credits", content: .text(credits, .plain)))
        }
        if let budget = snapshot.budget { rows.append(Self.row(for: budget, model: model)) }
        if let cost = provider.cost?.summary {
            rows.append(CardRow(label: "Cost", content: .text(cost, .plain)))
        }
        let message = VisibleText.escapedLines(snapshot.statusMessage ?? "", limit: 4)
            .joined(separator: " ")
        if snapshot.isError {
            status = (
                "error: " + (message.isEmpty ? "no reason given" : message), .colored(.red)
            )
        } else {
            status = message.isEmpty ? nil : (message, .dim)
        }
        if rows.isEmpty, status == nil {
            rows = [CardRow(label: "", content: .text("no limits reported", .dim))]
        }
        self.rows = rows
    }

    private static func row(
        for state: WindowState, isEstimate: Bool, model: ViewModel
    ) -> CardRow {
        let label = VisibleText.escape(state.label.text)
        let reset = state.window.resetsAt.map(model.times.reset)
        if state.isExpired, let reset {
            return CardRow(label: label, content: .text(reset + ", no newer data", .dim))
        }
        return CardRow(
            label: label,
            content: .gauge(
                CardRow.Gauge(
                    percent: model.shown(used: state.window.usedPercent),
                    text: model.signedText(
                        used: state.window.usedPercent, level: state.level,
                        isEstimate: isEstimate),
                    style: state.level.style, reset: reset ?? "",
                    details: state.pace.map(model.times.pace) ?? "")))
    }

    private static func row(for budget: SyncBudget, model: ViewModel) -> CardRow {
        let amounts = RowColumns.joined(
            AmountFormatter.ratio(
                budget.usedAmount, of: budget.limitAmount,
                currency: VisibleText.escape(budget.currencyCode)),
            budget.resetsAt.map(model.times.reset) ?? "")
        guard budget.limitAmount > 0 else {
            return CardRow(label: "Budget", content: .text(amounts, .plain))
        }
        let used = budget.usedAmount / budget.limitAmount * 100
        let level = WindowState.Level(remainingPercent: 100 - used)
        return CardRow(
            label: "Budget",
            content: .gauge(
                CardRow.Gauge(
                    percent: model.shown(used: used),
                    text: model.signedText(used: used, level: level, isEstimate: false),
                    style: level.style, details: amounts)))
    }

    /// The card as lines of at most `width` cells.
    func lines(columns: RowColumns, width: Int) -> [StyledLine] {
        let status = status.map { text, style in
            StyledLine().continued(
                by: text.wrapped(toCells: width - RowColumns.indent).prefix(3),
                atColumn: RowColumns.indent, style)
        }
        return [heading(width: width)] + rows.flatMap(columns.lines) + (status ?? [])
    }

    /// Name, account, plan and, at the right, the age of the numbers. The account gives way first, then the plan,
    /// then the name.
    private func heading(width: Int) -> StyledLine {
        let age = model.age(of: provider)
        let room = max(0, width - CellWidth.of(age.text) - 2)
        let snapshot = provider.snapshot
        let name = VisibleText.escape(snapshot.providerName).truncated(toCells: room)
        var detailRoom = room - CellWidth.of(name) - 2
        var details: [String] = []
        if let plan = snapshot.loginMethod.map(VisibleText.escape), !plan.isEmpty, detailRoom >= 4 {
            let shown = plan.truncated(toCells: detailRoom)
            details.append(shown)
            detailRoom -= CellWidth.of(shown) + 3
        }
        if let account = snapshot.accountEmail.map(VisibleText.escape), !account.isEmpty,
            detailRoom >= 6
        {
            details.insert(account.truncated(toCells: detailRoom), at: 0)
        }
        var line = StyledLine(name, .bold)
        if !details.isEmpty { line.append("  " + details.joined(separator: " · ")) }
        line.pad(toCells: width - CellWidth.of(age.text))
        return line.appending(age.text, age.style)
    }
}

extension ViewModel {
    /// With signs, if they are wanted, that say what color and kind of number say: "!! 93 % used", "~25 % used".
    func signedText(used: Double, level: WindowState.Level, isEstimate: Bool) -> String {
        let text = percentText(used: used)
        guard options.hasSigns else { return text }
        let sign =
            switch level {
            case .critical: "!! "
            case .low: "! "
            case .comfortable: ""
            }
        return sign + (isEstimate ? "~" : "") + text
    }

    /// The age of a provider's numbers.
    func age(
        of provider: ProviderState, _ times: TimeFormatter? = nil
    ) -> (text: String, style: TextStyle) {
        let time = (times ?? self.times).past(provider.snapshot.lastUpdated)
        return switch provider.freshness {
        case .fresh: (time, .dim)
        case .cached: ("as of " + time, .dim)
        case .stale: ("stale, as of " + time, .colored(.yellow))
        case .clockAhead: ("clock ahead", .colored(.yellow))
        }
    }
}

extension WindowState.Level {
    var style: TextStyle {
        switch self {
        case .critical: .colored(.red)
        case .low: .colored(.yellow)
        case .comfortable: .colored(.green)
        }
    }
}
