import SnapshotModels
import Commands
import TerminalText
import UsageState

/// The shortest useful screen, for a small pane: no bars, devices or accounts.
enum ShortForm {
    /// Below this a line has only room for a name and a percentage.
    private static let narrowColumns = 30

    static func lines(for model: ViewModel, size: ScreenSize) -> [StyledLine] {
        guard model.situation == .ready else { return EmptyState.lines(for: model, width: size.columns) }
        var lines = model.providers.flatMap { card($0, model: model, width: size.columns) }
        if let rows = size.rows, lines.count > rows {
            return linePerProvider(model, rows: rows, isNarrow: size.columns < narrowColumns)
        }
        switch model.data.link.state {
        case .offline: lines.append(StyledLine("offline", .colored(.yellow)))
        case .removed: lines.append(StyledLine(StatusText.removed, .colored(.red)))
        case .online, .notJoined: break
        }
        return lines
    }

    /// A heading and one line per window.
    private static func card(_ provider: ProviderState, model: ViewModel, width: Int) -> [StyledLine] {
        let age = model.age(UsageCard(provider))
        let name = VisibleText.escape(provider.snapshot.providerName)
        let shownAge =
            [age.text, provider.freshness == .stale ? "stale" : ""]
            .first { CellWidth.of($0) <= width - CellWidth.of(name) - 2 } ?? ""
        var heading = StyledLine(name.truncated(toCells: width), .bold)
        heading.pad(toCells: width - CellWidth.of(shownAge))
        heading.append(shownAge, age.style)

        let labels = column(provider.windows.map(\.label.short), limit: 9)
        let percents = column(provider.windows.map { percent($0, provider, model) }, limit: 20, alignment: .trailing)
        var lines = [heading]
        for (index, window) in provider.windows.enumerated() {
            let label = StyledLine(" " + labels[index] + "  ")
            guard !window.isExpired else {
                lines.append(label.appending("reset, no newer data", .dim))
                continue
            }
            let line = label.appending(percents[index], window.level.style)
            let reset = reset(window, model)
            lines.append(line.cells + CellWidth.of(reset) <= width ? line.appending(reset) : line)
        }
        if provider.windows.isEmpty {
            let style = provider.snapshot.isError ? TextStyle.colored(.red) : .dim
            lines.append(StyledLine(" " + withoutWindow(provider), style))
        }
        return lines
    }

    /// One line per provider; if they do not all fit, those with the least left.
    private static func linePerProvider(_ model: ViewModel, rows: Int, isNarrow: Bool) -> [StyledLine] {
        let all = model.providers
        let shown =
            all.count > rows
            ? Array(ProviderState.tightestFirst(all).prefix(max(1, rows - 1))) : all
        let windows = shown.map(\.tightestWindow)
        let names = column(shown.map(\.snapshot.providerName), limit: isNarrow ? 6 : 12)
        let labels = column(windows.map { $0?.label.short ?? "" }, limit: 9)
        let percents = column(
            zip(windows, shown).map { window, provider in
                window.map { percent($0, provider, model) } ?? ""
            }, limit: 20, alignment: .trailing)
        var lines = shown.indices.map { index in
            var line = StyledLine(names[index], .bold)
            guard let window = windows[index] else { return line.appending("  " + withoutWindow(shown[index]), .dim) }
            line.append(isNarrow ? "  " : "  " + labels[index] + "  ")
            line.append(percents[index], window.level.style)
            return line.appending(reset(window, model))
        }
        if shown.count < all.count, rows > 1 { lines.append(StyledLine("… \(all.count - shown.count) more", .dim)) }
        return lines
    }

    /// The text for an account without a current window.
    private static func withoutWindow(_ provider: ProviderState) -> String {
        if provider.snapshot.isError { return "error" }
        if provider.snapshot.credits?.unlimited == true { return "unlimited credits" }
        return provider.snapshot.credits?.summary ?? (provider.windows.isEmpty ? "no limits reported" : "no newer data")
    }

    private static func percent(_ state: WindowState, _ provider: ProviderState, _ model: ViewModel) -> String {
        guard !state.isExpired else { return "" }
        return model.signedText(
            used: state.window.usedPercent, level: state.level, isEstimate: provider.snapshot.isEstimate)
    }

    private static func reset(_ state: WindowState, _ model: ViewModel) -> String {
        state.window.resetsAt.map { "  " + model.times.upcoming($0) } ?? ""
    }

    /// Escaped cells, all as wide as the widest one.
    private static func column(_ texts: [String], limit: Int, alignment: TextAlignment = .leading) -> [String] {
        let cells = texts.map { VisibleText.escape($0).truncated(toCells: limit) }
        let width = cells.map { CellWidth.of($0) }.max() ?? 0
        return cells.map { $0.padded(toCells: width, alignment: alignment) }
    }
}
