import Essentials
import TerminalText
import UsageState

/// Everything that is known about one provider account.
struct ProviderDetail {
    let provider: ProviderState
    let model: LiveModel
    /// At most that of a text.
    let width: Int
    /// What is seen at once.
    let rows: Int
    /// Whether the account's card is on the screen already.
    let isBesideList: Bool

    private let details: UsageDetails

    private static let mostPlotRows = 10

    init(provider: ProviderState, model: LiveModel, width: Int, rows: Int, isBesideList: Bool) {
        self.provider = provider
        self.model = model
        self.width = width
        self.rows = rows
        self.isBesideList = isBesideList
        details = UsageDetails(provider, model.usage, series: model.data.series.filter(provider.owns))
    }

    var lines: [StyledLine] {
        let parts = [title] + plots + [card, notes] + tables + [devices]
        return Array(parts.filter { !$0.isEmpty }.joined(separator: [StyledLine()]))
    }

    private var title: [StyledLine] {
        isBesideList ? [StyledLine(provider.title.truncated(toCells: width), .bold)] : []
    }

    private var card: [StyledLine] {
        if isBesideList { return [] }
        let card = ProviderCard(provider, model: model.usage)
        return card.lines(.card, ProviderCard.Tables(fitting: [card], width: width), width: width)
    }

    private var notes: [StyledLine] {
        let usage = model.usage
        let notes = details.notes.compactMap { $0.value(at: usage.now) }
        return (notes + [UsageNote.link(usage.data.link)].compactMap { $0 }).flatMap { note in
            let body = usage.text(note.text).wrapped(toCells: width).map { StyledLine($0, note.tone.style) }
            let next = ("Next: " + note.next).wrapped(toCells: width - 2)
            return body + (note.next.isEmpty ? [] : next.map { StyledLine("  " + $0) })
        }
    }

    private var plots: [[StyledLine]] {
        let plotRows = HistorySection.plotRows(
            rows - title.count * 2, count: details.plots.count, upTo: Self.mostPlotRows)
        return details.plots.map { plot in
            HistorySection.plot(
                plot.series, plot.forecast, model: model.usage, width: width, rows: plotRows)
        }
    }

    private var devices: [StyledLine] {
        guard provider.cost?.parts.isEmpty ?? true else { return [] }
        return ("Seen by " + details.devices.joined(separator: ", "))
            .wrapped(toCells: width).map { StyledLine($0, .dim) }
    }

    private var tables: [[StyledLine]] {
        details.tables.map { $0.lines(width: width) }
    }
}
