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
    private let card: UsageCard
    private let model: ViewModel

    init(_ provider: ProviderState, model: ViewModel) {
        card = UsageCard(provider)
        self.model = model
        rows = card.rows.map { CardRow($0, model) }
    }

    /// The card as lines of at most `width` cells.
    func lines(columns: RowColumns, width: Int) -> [StyledLine] {
        let status = card.status.map { status in
            StyledLine().continued(
                by: model.text(status.text).wrapped(toCells: width - RowColumns.indent).prefix(3),
                atColumn: RowColumns.indent, status.tone.style)
        }
        return [heading(width: width)] + rows.flatMap(columns.lines) + (status ?? [])
    }

    /// Name, account, plan and, at the right, the age of the numbers. The account gives way first, then the plan,
    /// then the name.
    private func heading(width: Int) -> StyledLine {
        let (age, style) = model.age(card)
        let room = max(0, width - CellWidth.of(age) - 2)
        let name = card.name.truncated(toCells: room)
        var detailRoom = room - CellWidth.of(name) - 2
        var details: [String] = []
        if let plan = card.plan, detailRoom >= 4 {
            let shown = plan.truncated(toCells: detailRoom)
            details.append(shown)
            detailRoom -= CellWidth.of(shown) + 3
        }
        if let account = card.account, detailRoom >= 6 { details.insert(account.truncated(toCells: detailRoom), at: 0) }
        var line = StyledLine(name, .bold)
        if !details.isEmpty { line.append("  " + details.joined(separator: " · ")) }
        line.pad(toCells: width - CellWidth.of(age))
        return line.appending(age, style)
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

    func text(_ text: TimedText) -> String { text.text(times) }

    /// The age of the card's numbers.
    func age(_ card: UsageCard) -> (text: String, style: TextStyle) {
        let age = card.age.value(at: now)
        return (text(age.text), age.tone.style)
    }
}

extension CardRow {
    fileprivate init(_ row: UsageCard.Row, _ model: ViewModel) {
        label = row.label
        switch row.content.value(at: model.now) {
        case .text(let text): content = .text(model.text(text.text), text.tone.style)
        case .gauge(let gauge):
            content = .gauge(
                Gauge(
                    percent: model.shown(used: gauge.usedPercent),
                    text: model.signedText(used: gauge.usedPercent, level: gauge.level, isEstimate: gauge.isEstimate),
                    style: gauge.level.style, reset: model.text(gauge.reset), details: model.text(gauge.details)))
        }
    }
}

extension WindowState.Level {
    var style: TextStyle { Tone(self).style }
}

extension Tone {
    var style: TextStyle {
        switch self {
        case .plain: .plain
        case .dim: .dim
        case .good: .colored(.green)
        case .warning: .colored(.yellow)
        case .bad: .colored(.red)
        }
    }
}
