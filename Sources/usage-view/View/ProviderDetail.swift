import Essentials
import SnapshotModels
import TerminalText
import UsageState

/// Everything that is known about one provider account.
struct ProviderDetail {
    let provider: ProviderState
    let model: LiveModel
    /// At most that of a text.
    let width: Int
    /// Whether the account's card is on the screen already.
    let isBesideList: Bool

    private static let dayCount = 7
    private static let plotRows = 5
    private static let modelCount = 8

    var lines: [StyledLine] {
        let parts = [card, notes, plots, days, models, devices]
        return Array(parts.filter { !$0.isEmpty }.joined(separator: [StyledLine()]))
    }

    private var card: [StyledLine] {
        if isBesideList { return [StyledLine(provider.title.truncated(toCells: width), .bold)] }
        let card = ProviderCard(provider, model: model.usage)
        return card.lines(columns: RowColumns(fitting: card.rows, width: width), width: width)
    }

    private var notes: [StyledLine] {
        let usage = model.usage
        let notes = UsageNote.notes(on: provider).compactMap { $0.value(at: usage.now) }
        return (notes + [UsageNote.offline(usage.data.link)].compactMap { $0 }).flatMap { note in
            let body = usage.text(note.text).wrapped(toCells: width).map {
                StyledLine($0, note.tone.style)
            }
            let next = ("Next: " + note.next).wrapped(toCells: width - 2)
            return body + (note.next.isEmpty ? [] : next.map { StyledLine("  " + $0) })
        }
    }

    private var plots: [StyledLine] {
        let plots = model.data.series.filter(provider.owns).map { series in
            HistorySection.plot(
                series, model: model, width: width, rows: Self.plotRows,
                title: VisibleText.escape(series.label) + ", 7 days")
        }
        return Array(plots.joined(separator: [StyledLine()]))
    }

    private var breakdown: CostBreakdown? {
        CostBreakdown(
            provider.snapshot.costSummary, dayCount: Self.dayCount, now: model.usage.now,
            zone: model.usage.zone)
    }

    private var days: [StyledLine] {
        guard let days = breakdown?.days, !days.isEmpty else { return [] }
        let rows = days.map { day in
            Row(
                name: model.times.day(day.date), value: day.amount.costUSD,
                texts: [
                    AmountFormatter.tokens(day.amount.tokens),
                    AmountFormatter.money(day.amount.costUSD, currency: "USD"),
                ])
        }
        return table("Tokens and cost by day", rows)
    }

    private var models: [StyledLine] {
        guard let models = breakdown?.models, !models.isEmpty else { return [] }
        let rows = models.prefix(Self.modelCount).map { model in
            Row(
                name: VisibleText.escape(model.name), value: model.costUSD,
                texts: [AmountFormatter.money(model.costUSD, currency: "USD")])
        }
        let more = models.count - rows.count
        return table("Cost by model, 30 days", Array(rows))
            + (more > 0 ? [StyledLine("  … \(more) more", .dim)] : [])
    }

    private var devices: [StyledLine] {
        let parts = provider.cost?.parts ?? []
        guard !parts.isEmpty else {
            let names = provider.deviceNames.map(VisibleText.escape).joined(separator: ", ")
            return ("Seen by " + names).wrapped(toCells: width).map { StyledLine($0, .dim) }
        }
        let rows = parts.map { part in
            Row(
                name: VisibleText.escape(part.device), value: part.last30Days.costUSD,
                texts: [
                    AmountFormatter.tokens(part.last30Days.tokens),
                    AmountFormatter.money(part.last30Days.costUSD, currency: "USD"),
                ])
        }
        return table("Tokens and cost by device, 30 days", rows)
    }

    private struct Row {
        let name: String
        /// The length of the bar.
        let value: Double
        let texts: [String]
    }

    /// Rows with names, right-aligned columns, and a bar where there is room.
    private func table(_ title: String, _ rows: [Row]) -> [StyledLine] {
        let nameCells = min(24, rows.map { CellWidth.of($0.name) }.max() ?? 0)
        let textCells = (rows.first?.texts ?? []).indices.map { column in
            rows.map { CellWidth.of($0.texts[column]) }.max() ?? 0
        }
        let taken = 2 + nameCells + textCells.reduce(0) { $0 + 2 + $1 } + 2
        let barCells = min(30, width - taken)
        let greatest = rows.map(\.value).max() ?? 0
        return [StyledLine(title.truncated(toCells: width), .bold)]
            + rows.map { row in
                var line = StyledLine("  " + row.name.fitted(toCells: nameCells))
                for (text, cells) in zip(row.texts, textCells) {
                    line.append("  " + text.padded(toCells: cells, alignment: .trailing))
                }
                let filled = greatest > 0 ? row.value / greatest * Double(barCells) : 0
                if barCells >= 4, filled.isFinite {
                    line.append(
                        "  " + String(repeating: "█", count: Int(filled.rounded(.up))), .dim)
                }
                return line.truncated(toCells: width)
            }
    }
}
