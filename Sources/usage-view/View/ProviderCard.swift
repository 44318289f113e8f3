import Essentials
import SnapshotModels
import TerminalText
import UsageState

/// A provider account, in one of three forms.
struct ProviderCard {
    private static let indent = 2
    private static let statusLines = 3
    private static let leastNameCells = 8

    /// Windows, credits, budget and cost.
    let rows: [CardRow]
    /// Its most urgent window, or why there is none.
    let leading: CardRow
    let needsAttention: Bool
    private let card: UsageCard
    private let model: ViewModel

    /// - Parameter isShared: whether its tool has other accounts here.
    init(_ provider: ProviderState, model: ViewModel, isShared: Bool = false) {
        card = UsageCard(provider)
        self.model = model
        rows = zip(card.rows, card.rows.indices).map { row, index in
            let short = provider.windows.indices.contains(index) ? provider.windows[index].label.short : nil
            return CardRow(row, shortLabel: short.map(VisibleText.escape) ?? row.label, model)
        }
        needsAttention = provider.items(at: model.now).contains { $0.urgency?.needsAttention ?? false }
        let index = card.leading.value(at: model.now)
        let name = [card.name, isShared ? card.account ?? "" : ""].filter { !$0.isEmpty }.joined(separator: " ")
        if provider.windows.indices.contains(index) {
            var row = rows[index]
            (row.name, row.label) = (name, row.shortLabel)
            leading = row
        } else if let status = card.status, provider.snapshot.isError || rows.isEmpty {
            leading = CardRow(
                name: name, label: "", shortLabel: "", content: .text(model.text(status.text), status.tone.style))
        } else {
            let text = rows.first.map { row in
                if case .text(let text, _) = row.content { Parts.joined(row.label, text) } else { row.label }
            }
            leading = CardRow(name: name, label: "", shortLabel: "", content: .text(text ?? "", .dim))
        }
    }

    /// The rows of the form `windows`.
    private var windowRows: [CardRow] {
        guard card.windowCount == 0 else { return Array(rows.prefix(card.windowCount)) }
        return [CardRow(label: "", shortLabel: "", content: leading.content)]
    }

    /// Lines of at most `width` cells.
    func lines(_ form: UsageDensity, _ tables: Tables, width: Int) -> [StyledLine] {
        switch form {
        case .row: return tables.rows.lines(leading, isOneLine: true)
        case .windows:
            return [heading(width: width)]
                + windowRows.flatMap { tables.windows.lines($0, isOneLine: true) }.map { $0.indented(Self.indent) }
        case .card:
            let status = card.status.map { status in
                StyledLine().continued(
                    by: model.text(status.text).wrapped(toCells: width - Self.indent).prefix(Self.statusLines),
                    atColumn: Self.indent, status.tone.style)
            }
            return [heading(width: width)]
                + rows.flatMap { tables.windows.lines($0) }.map { $0.indented(Self.indent) } + (status ?? [])
        }
    }

    /// The columns that all accounts of a screen share, so that they line up.
    struct Tables {
        fileprivate let rows: GaugeTable
        fileprivate let windows: GaugeTable

        init(fitting cards: [ProviderCard], width: Int) {
            rows = GaugeTable(fitting: cards.map(\.leading), width: width)
            windows = GaugeTable(fitting: cards.flatMap(\.rows), width: width - ProviderCard.indent)
        }
    }

    /// Name, account, plan and, at the right, whose numbers they are and how old. The account gives way first, then the
    /// plan, then the source, then the age, then the name.
    private func heading(width: Int) -> StyledLine {
        var (age, style) = model.age(card)
        if model.devices.count > 1, let source = card.source {
            let long = "from \(source), \(age)"
            if CellWidth.of(card.name) + 2 + CellWidth.of(long) <= width { age = long }
        }
        var room = max(0, width - CellWidth.of(age) - 2)
        if room < min(CellWidth.of(card.name), Self.leastNameCells) { (age, room) = ("", width) }
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

extension StyledLine {
    fileprivate func indented(_ cells: Int) -> StyledLine {
        var line = StyledLine(String(repeating: " ", count: cells))
        line.append(self)
        return line
    }
}

extension ViewModel {
    /// With signs that say what color and kind of number say: "!! 93 % used", "~25 % used".
    ///
    /// - Parameter isShort: without "used".
    fileprivate func signedText(_ gauge: UsageCard.Gauge, isShort: Bool = false) -> String {
        let text = isShort ? options.measure.short(used: gauge.usedPercent) : percentText(used: gauge.usedPercent)
        let sign = gauge.isOld ? "" : gauge.urgency.sign
        let bound = gauge.isAtLeast && !isShort ? options.measure.bound : ""
        let isApproximate = bound.isEmpty && (gauge.isApproximate || gauge.isAtLeast)
        return (sign.isEmpty ? "" : sign + " ") + bound + (isApproximate ? AmountFormatter.approximate(text) : text)
    }

    /// The longest form of the answer that fits.
    func answer(cells: Int) -> StyledLine {
        let answer = UsageAnswer(self)
        let texts = answer.forms.map(text)
        let cells = min(cells, ScreenLayout.widestText)
        let text = texts.first { CellWidth.of($0) <= cells } ?? (texts.last ?? "").truncated(toCells: cells)
        var style = answer.tone.style
        style.isBold = true
        return StyledLine(text, style)
    }

    func text(_ text: TimedText) -> String { text.text(times) }

    /// The age of the card's numbers.
    func age(_ card: UsageCard) -> (text: String, style: TextStyle) {
        let age = card.age.value(at: now)
        return (text(age.text), age.tone.style)
    }
}

extension CardRow {
    fileprivate init(_ row: UsageCard.Row, shortLabel: String, _ model: ViewModel) {
        label = row.label
        self.shortLabel = shortLabel
        switch row.content.value(at: model.now) {
        case .text(let text): content = .text(model.text(text.text), text.tone.style)
        case .gauge(let gauge):
            content = .gauge(
                Gauge(
                    percent: model.shown(used: gauge.usedPercent),
                    evenPercent: gauge.evenPercent(at: model.now).map(model.shown),
                    text: model.signedText(gauge), shortText: model.signedText(gauge, isShort: true),
                    style: gauge.isOld ? .plain : gauge.urgency.style, reset: model.text(gauge.reset),
                    shortReset: gauge.resetsAt.map(model.shortReset) ?? "",
                    out: gauge.isOld ? "" : model.text(gauge.out), shortOut: model.text(gauge.shortOut),
                    details: model.text(gauge.details)))
        }
    }
}

extension ViewModel {
    /// "3d 4h", or "Mon 13:45".
    fileprivate func shortReset(_ date: Date) -> String {
        options.isAbsolute ? times.brief(date) : DurationFormatter.countdown(to: date, from: now)
    }
}

extension Urgency {
    var style: TextStyle {
        var style = Tone(self).style
        style.isBold = needsAttention
        return style
    }
}

extension Tone {
    var style: TextStyle {
        switch self {
        case .plain: .plain
        case .dim: .dim
        case .good: .colored(.green)
        case .watch: .colored(.cyan)
        case .warning: .colored(.yellow)
        case .bad: .colored(.red)
        }
    }
}
