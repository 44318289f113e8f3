import Foundation
import SnapshotModels
import TerminalText

/// The shortest useful screen, for a narrow or low pane: no bars, no devices, no accounts.
enum ShortForm {
    static func lines(for model: ViewModel, size: ScreenSize) -> [StyledLine] {
        guard model.situation == .ready else {
            return NothingMessage.lines(for: model, width: size.columns)
        }
        let providers = model.providers
        var lines = providers.flatMap { perWindow($0, model: model, width: size.columns) }
        if let rows = size.rows, lines.count > rows {
            return lowForm(providers, model: model, rows: rows)
        }
        if DeviceLines.linkNote(model) != nil {
            lines.append(StyledLine("offline", .colored(.yellow)))
        }
        return lines
    }

    /// A heading and one line per window.
    private static func perWindow(
        _ provider: ProviderState, model: ViewModel, width: Int
    ) -> [StyledLine] {
        let (age, ageStyle) = AgeText.observed(provider, model: model)
        let name = VisibleText.escape(provider.snapshot.providerName)
        let ageRoom = max(0, width - CellWidth.of(name) - 2)
        let word = provider.freshness == .stale ? "stale" : ""
        let shownAge = [age, word, ""].first { CellWidth.of($0) <= ageRoom } ?? ""
        var heading = StyledLine(name.truncated(toCells: width), .bold)
        heading.pad(toCells: width - CellWidth.of(shownAge))
        heading.append(shownAge, ageStyle)

        let labels = provider.windows.map { VisibleText.escape($0.label.short) }
        let labelCells = min(labels.map { CellWidth.of($0) }.max() ?? 0, 9)
        let texts = provider.windows.map { percentText($0, model) }
        let textCells = texts.compactMap { $0.map { CellWidth.of($0) } }.max() ?? 0
        var lines = [heading]
        for (index, state) in provider.windows.enumerated() {
            var line = StyledLine(" " + labels[index].fitted(toCells: labelCells) + "  ")
            if let text = texts[index] {
                line.append(
                    text.padded(toCells: textCells, alignment: .trailing), state.level.style)
                let reset = countdown(state, model)
                if !reset.isEmpty, line.cells + 2 + CellWidth.of(reset) <= width {
                    line.append("  " + reset)
                }
            } else {
                line.append("reset, no newer data", .dim)
            }
            lines.append(line)
        }
        if provider.windows.isEmpty {
            lines.append(
                StyledLine(
                    " " + withoutWindows(provider, model),
                    provider.snapshot.isError ? .colored(.red) : .dim))
        }
        return lines
    }

    /// One line per provider; where they do not all fit, the tightest ones.
    private static func lowForm(
        _ providers: [ProviderState], model: ViewModel, rows: Int
    ) -> [StyledLine] {
        var shown = providers
        if providers.count > rows {
            let tightest = providers.sorted {
                ($0.leastRemaining ?? .infinity) < ($1.leastRemaining ?? .infinity)
            }
            shown = Array(tightest.prefix(rows > 1 ? rows - 1 : rows))
        }
        var names = TextColumn(limit: 12)
        var labels = TextColumn(limit: 9)
        var texts = TextColumn(limit: 20)
        for provider in shown {
            names.add(provider.snapshot.providerName)
            labels.add(provider.tightestWindow?.label.short ?? "")
            texts.add(provider.tightestWindow.flatMap { percentText($0, model) } ?? "")
        }
        var lines = shown.enumerated().map { index, provider in
            var line = StyledLine(names.cell(index), .bold)
            guard let state = provider.tightestWindow else {
                return line.followed(by: "  " + withoutWindows(provider, model), .dim)
            }
            line.append("  " + labels.cell(index) + "  ")
            line.append(texts.cell(index, alignment: .trailing), state.level.style)
            let reset = countdown(state, model)
            return reset.isEmpty ? line : line.followed(by: "  " + reset, .plain)
        }
        if shown.count < providers.count, rows > 1 {
            lines.append(StyledLine("… \(providers.count - shown.count) more", .dim))
        }
        return lines
    }

    /// What there is to say of an account without a window that holds now.
    private static func withoutWindows(_ provider: ProviderState, _ model: ViewModel) -> String {
        let snapshot = provider.snapshot
        if snapshot.isError { return "error" }
        if let credits = snapshot.credits {
            if credits.unlimited { return "unlimited credits" }
            if let balance = credits.balance { return AmountText.number(balance) + " left" }
        }
        return provider.windows.isEmpty ? "no limits reported" : "no newer data"
    }

    private static func percentText(
        _ state: WindowState, _ model: ViewModel
    ) -> String? {
        guard !state.isExpired else { return nil }
        let isLeft = model.options.measure == .left
        let percent = isLeft ? state.window.remainingPercent : state.window.usedPercent
        return PercentText.text(percent, isLeft: isLeft)
            + " " + model.options.measure.rawValue
    }

    private static func countdown(_ state: WindowState, _ model: ViewModel) -> String {
        guard let date = state.window.resetsAt else { return "" }
        return model.options.isAbsolute
            ? ClockText(zone: model.zone, now: model.now).text(date)
            : "in " + DurationWords.countdown(to: date, from: model.now)
    }
}

/// Cells of one column, padded to the widest.
private struct TextColumn {
    let limit: Int
    private var texts: [String] = []
    private var cells = 0

    init(limit: Int) { self.limit = limit }

    mutating func add(_ text: String) {
        let shown = VisibleText.escape(text).truncated(toCells: limit)
        texts.append(shown)
        cells = max(cells, CellWidth.of(shown))
    }

    func cell(_ index: Int, alignment: TextAlignment = .leading) -> String {
        texts[index].padded(toCells: cells, alignment: alignment)
    }
}
