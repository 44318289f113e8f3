import TerminalText
import UsageState

/// The sections to choose from.
enum NavigationView {
    /// The strip, and the cells of each tab.
    static func tabs(_ current: Section, columns: Int) -> (line: StyledLine, places: [(Section, Range<Int>)]) {
        let forms: [(Section) -> String] = [
            { "\($0.digit) \($0.title)" }, { "\($0.digit) \($0.shortTitle)" }, { "\($0.digit)\($0.shortTitle)" },
            { $0.shortTitle },
        ]
        for form in forms {
            let strip = tabs(current, form)
            if strip.line.cells <= columns { return strip }
        }
        return tabs(current) { $0 == current ? $0.shortTitle : "\($0.digit)" }
    }

    private static func tabs(
        _ current: Section, _ title: (Section) -> String
    ) -> (line: StyledLine, places: [(Section, Range<Int>)]) {
        var line = StyledLine()
        var places: [(Section, Range<Int>)] = []
        for section in Section.allCases {
            let start = line.cells
            // Brackets, because not every terminal shows what is bold.
            line.append(
                section == current ? "[\(title(section))]" : " \(title(section)) ", section == current ? .bold : .dim)
            places.append((section, start..<line.cells))
        }
        return (line, places)
    }

    static let sidebarColumns = 14

    static func sidebar(_ current: Section, model: LiveModel) -> [StyledLine] {
        [StyledLine()]
            + Section.allCases.map { section in
                let isCurrent = section == current
                var line = StyledLine(isCurrent ? "▌" : " ", .bold)
                    .appending("\(section.digit) " + section.title, isCurrent ? .bold : .plain)
                guard let count = count(of: section, model) else { return line }
                let text = count < 1_000 ? "\(count)" : "1k+"
                line.pad(toCells: sidebarColumns - CellWidth.of(text))
                return line.appending(text, .dim)
            }
    }

    private static func count(of section: Section, _ model: LiveModel) -> Int? {
        switch section {
        case .usage: model.usage.providers.count
        case .history: model.data.series.count
        case .devices: DevicesSection.cards(model).count
        case .keys: model.data.keys.count
        case .spending, .settings, .help: nil
        }
    }
}

extension Section {
    /// The command that goes there.
    var command: Command { Command(rawValue: rawValue) ?? .usage }
}

/// The last line: help and quit first, then what is going on.
enum StatusLine {
    static func line(_ state: LiveState, _ drawing: Drawing, columns: Int) -> StyledLine {
        let query = VisibleText.escape(state.scene.position.query)
        if state.dialog != nil {
            return StyledLine(" enter choose  esc close", .dim)
        }
        if state.isSearching {
            let hint = "  enter keep  esc clear  / all"
            let room = max(4, columns - CellWidth.of(hint) - 4)
            return StyledLine(" /" + suffix(query, room) + "_", .bold).appending(hint, .dim)
        }
        var parts = [StyledLine(" ? help  q quit", .dim)]
        let viewport = state.scene.isDetailOpen ? drawing.detail ?? drawing.list : drawing.list
        if viewport.hidden > 0 {
            parts.append(StyledLine("↓ \(viewport.hidden) more", .bold))
        } else if viewport.first > 0 {
            parts.append(StyledLine("↑ more", .bold))
        }
        if !query.isEmpty { parts.append(StyledLine("/" + query.truncated(toCells: 20), .bold)) }
        let options = state.options
        let choices = [
            options.measure.rawValue, options.isAbsolute ? "clock times" : "countdowns",
            options.sortOrder.words,
        ].joined(separator: " · ")
        let moving = state.scene.isPlotOpen ? "← → move  + - zoom  " : ""
        let hints = state.scene.isDetailOpen ? moving + "esc back" : "enter open  / search  : commands"
        parts += [StyledLine(hints, .dim), StyledLine(choices, .dim)]
        // What does not fit is left out, never cut.
        return parts.dropFirst().reduce(parts[0]) { line, part in
            guard line.cells + 2 + part.cells <= min(columns, Layout.textColumns) else { return line }
            var line = line.appending("  ")
            line.append(part)
            return line
        }
    }

    private static func suffix(_ text: String, _ cells: Int) -> String {
        var text = text
        while CellWidth.of(text) > cells { text.removeFirst() }
        return text
    }
}
