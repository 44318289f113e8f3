import Foundation
import SnapshotModels
import TerminalText

/// A provider account's card: a heading and rows in the order of the viewer's rules.
struct ProviderRows {
    let heading: CardHeading
    let rows: [CardRow]
    private let status: (text: String, style: TextStyle)?

    init(provider: ProviderState, model: ViewModel) {
        heading = CardHeading(provider: provider, model: model)
        let resets = ResetText(model: model)
        var rows = provider.windows.map {
            Self.row(for: $0, model: model, resets: resets)
        }
        let snapshot = provider.snapshot
        if let credits = snapshot.credits { rows += Self.row(for: credits) }
        if let budget = snapshot.budget {
            rows.append(Self.row(for: budget, model: model, resets: resets))
        }
        let message = snapshot.statusMessage.map {
            VisibleText.escapedLines($0, limit: 4).joined(separator: " ")
        }
        if let message, !message.isEmpty {
            status =
                snapshot.isError
                ? ("error: " + message, TextStyle.colored(.red)) : (message, .dim)
        } else if snapshot.isError {
            status = ("error, without a reason", .colored(.red))
        } else {
            status = nil
        }
        if rows.isEmpty, status == nil {
            rows.append(CardRow(label: "", content: .text("no limits reported", .dim)))
        }
        self.rows = rows
    }

    private static func row(
        for state: WindowState, model: ViewModel, resets: ResetText
    ) -> CardRow {
        let label = VisibleText.escape(state.label.text)
        if state.isExpired {
            return CardRow(label: label, content: .text(resets.expired(state.window), .dim))
        }
        let measure = model.options.measure
        let percent =
            measure == .used ? state.window.usedPercent : state.window.remainingPercent
        let text = PercentText.text(percent, isLeft: measure == .left)
        return CardRow(
            label: label,
            content: .gauge(
                percent: percent,
                text: text + " " + measure.rawValue,
                style: state.level.style,
                note: CardRow.Note(
                    reset: resets.upcoming(state.window),
                    details: state.pace.map { PaceText.text($0, now: model.now) } ?? "")))
    }

    private static func row(for credits: SyncCredits) -> [CardRow] {
        if credits.unlimited {
            return [CardRow(label: "Credits", content: .text("unlimited", .plain))]
        }
        guard let balance = credits.balance else { return [] }
        let text = AmountText.number(balance) + " left"
        return [CardRow(label: "Credits", content: .text(text, .plain))]
    }

    private static func row(
        for budget: SyncBudget, model: ViewModel, resets: ResetText
    ) -> CardRow {
        let currency = VisibleText.escape(budget.currencyCode)
        let ratio = AmountText.ratio(
            budget.usedAmount, of: budget.limitAmount, currency: currency)
        let reset = budget.resetsAt.map { resets.text($0) } ?? ""
        guard budget.limitAmount > 0 else {
            return CardRow(
                label: "Budget",
                content: .text(RowColumns.joined(ratio, reset), .plain))
        }
        let used = budget.usedAmount / budget.limitAmount * 100
        let measure = model.options.measure
        let percent = measure == .used ? used : max(0, 100 - used)
        return CardRow(
            label: "Budget",
            content: .gauge(
                percent: percent,
                text: PercentText.text(percent, isLeft: measure == .left) + " "
                    + measure.rawValue,
                style: WindowState.Level(remainingPercent: 100 - used).style,
                note: CardRow.Note(details: RowColumns.joined(ratio, reset))))
    }

    /// The card as lines of at most `width` cells.
    func lines(columns: RowColumns, width: Int) -> [StyledLine] {
        var lines = [heading.line(width: width)]
        for row in rows {
            lines += RowLines.lines(for: row, columns: columns, width: width)
        }
        if let status {
            let room = width - RowColumns.indent
            lines += WordWrap.lines(status.text, width: room).prefix(3).map {
                var line = StyledLine(String(repeating: " ", count: RowColumns.indent))
                line.append($0, status.style)
                return line
            }
        }
        return lines
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
