import Commands
import TerminalText
import UsageState

/// Draws a window of the live viewer.
struct LiveScreen {
    let model: LiveModel
    let state: LiveState
    let columns: Int
    let rows: Int
    private let content: SectionContent
    private let layout: Layout

    private var scene: Scene { state.scene }

    static func drawing(for model: LiveModel, state: LiveState, size: ScreenSize) -> Drawing {
        LiveScreen(model, state, columns: max(1, size.columns), rows: max(1, size.rows ?? 24)).drawing
    }

    private init(_ model: LiveModel, _ state: LiveState, columns: Int, rows: Int) {
        self.model = model
        self.state = state
        self.columns = columns
        self.rows = rows
        var content = SectionContent(section: state.scene.section, model: model, state: state, columns: columns)
        layout = Layout(columns: columns, rows: rows, settings: state.settings, hasPreview: content.hasDetail)
        if content.section == .usage {
            content.accountColumns = ScreenLayout.columnCount(
                layout.list.columns, accounts: model.usage.providers.count)
        }
        content.rows = layout.list.rows
        self.content = content
    }

    private var drawing: Drawing {
        var drawing = Drawing(columns: columns)
        switch layout.form {
        case .full: drawFull(&drawing)
        case .short: drawShort(&drawing)
        case .tiny:
            if scene.section == .usage, columns >= 20 {
                drawShort(&drawing)
            } else {
                drawing.add([StyledLine("\(scene.section.title) · too small")], in: layout.list)
            }
        }
        let theme = state.settings.theme.supported(hasTrueColor: state.hasTrueColor)
        drawing.compose(rows: rows) { line in
            let styled = line.restyled(theme.style)
            return state.isUnicode ? styled : styled.inASCII
        }
        return drawing
    }

    // MARK: - Forms

    /// The list without anything around it: the answer and rows, or titles.
    private func drawShort(_ drawing: inout Drawing) {
        if state.dialog != nil { return drawDialog(&drawing, in: Rectangle(columns: columns, rows: rows)) }
        if let header = layout.header { drawing.add([model.usage.answer(cells: columns)], in: header) }
        var listing = content.filteredListing(width: columns - PlacedListing.gutter)
        if scene.section != .usage { listing.items = listing.items.map(\.title) }
        listing.footer = []
        drawList(listing, columnCount: 1, columnCells: columns, &drawing)
    }

    private func drawFull(_ drawing: inout Drawing) {
        if let header = layout.header { drawing.add([self.header], in: header) }
        drawNavigation(&drawing)
        if state.dialog != nil {
            var place = layout.list
            place.columns = columns - place.column
            if let preview = layout.preview {
                place.rows = preview.row + preview.rows - place.row
            }
            drawDialog(&drawing, in: place)
        } else {
            drawBody(&drawing)
        }
        if let status = layout.status { drawing.add([StatusLine.line(state, drawing, columns: columns)], in: status) }
    }

    private func drawBody(_ drawing: inout Drawing) {
        let isCovered = scene.isDetailOpen && layout.preview == nil && content.hasDetail
        let listing = content.filteredListing(width: itemCells)
        let count = content.accountColumns
        let cells =
            count == 1
            ? min(layout.list.columns, Layout.textColumns + 2) : layout.list.columns / count
        if isCovered {
            var hidden = Drawing(columns: columns)
            drawList(listing, columnCount: count, columnCells: cells, &hidden)
            (drawing.ids, drawing.rows) = (hidden.ids, hidden.rows)
            (drawing.selected, drawing.list) = (hidden.selected, hidden.list)
        } else {
            drawList(listing, columnCount: count, columnCells: cells, &drawing)
        }
        guard let selected = drawing.selected,
            let place = layout.preview ?? (isCovered ? layout.list : nil)
        else { return }
        drawDetail(drawing.ids[selected], in: place, &drawing)
        if !isCovered { drawing.add(separator(before: place), in: separatorPlace(before: place)) }
    }

    /// The width of an entry.
    private var itemCells: Int {
        let count = content.accountColumns
        let cells = layout.list.columns / count - PlacedListing.gutter - (count > 1 ? 1 : 0)
        return min(Layout.textColumns, max(1, cells))
    }

    // MARK: - Parts

    private func drawList(_ listing: Listing, columnCount: Int, columnCells: Int, _ drawing: inout Drawing) {
        let wanted = scene.position.selection
        let selected = listing.items.firstIndex { $0.id == wanted } ?? listing.items.indices.first
        let placed = PlacedListing(
            listing, columnCount: columnCount, columnCells: columnCells,
            selection: selected.map { listing.items[$0].id }, isFocused: !scene.isDetailOpen)
        let place = layout.list
        drawing.ids = placed.ids
        drawing.rows = placed.ids.indices.map(placed.rows)
        drawing.selected = selected
        drawing.list = Viewport(
            wanted: scene.position.firstLine, rows: place.rows, total: placed.lines.count,
            selected: selected.map { placed.rows(of: $0) })
        let first = drawing.list.first
        drawing.add(Array(placed.lines.dropFirst(first)), in: place)
        for (id, item) in zip(placed.ids, placed.places) {
            let rows = item.rows.clamped(to: first..<(first + place.rows))
            guard !rows.isEmpty else { continue }
            drawing.add(
                .select(id: id),
                in: Rectangle(
                    column: place.column + item.column, row: place.row + rows.lowerBound - first,
                    columns: columnCells, rows: rows.count))
        }
    }

    private func drawDetail(_ id: String, in place: Rectangle, _ drawing: inout Drawing) {
        let width = min(Layout.textColumns, place.columns - 2)
        let lines = content.detail(id: id, width: width, rows: place.rows, isBesideList: layout.preview != nil)
        let viewport = Viewport(wanted: scene.position.firstDetailLine, rows: place.rows, total: lines.count)
        drawing.detail = viewport
        let margin = (place.columns - width) / 2
        drawing.add(
            Array(lines.dropFirst(viewport.first)),
            in: Rectangle(column: place.column + margin, row: place.row, columns: width, rows: place.rows))
    }

    private func separatorPlace(before place: Rectangle) -> Rectangle {
        place.row == layout.list.row
            ? Rectangle(column: place.column - 1, row: place.row, columns: 1, rows: place.rows)
            : Rectangle(column: place.column, row: place.row - 1, columns: place.columns, rows: 1)
    }

    private func separator(before place: Rectangle) -> [StyledLine] {
        let style: TextStyle = scene.isDetailOpen ? .bold : .faint
        let line = separatorPlace(before: place)
        return [StyledLine](
            repeating: StyledLine(String(repeating: line.columns == 1 ? "│" : "─", count: line.columns), style),
            count: line.rows)
    }

    private func drawDialog(_ drawing: inout Drawing, in place: Rectangle) {
        guard let dialog = state.dialog else { return }
        drawing.entries = dialog.entries(model, state)
        let width = min(Layout.dialogColumns, place.columns)
        let column = place.column + (place.columns - width) / 2
        let view = DialogView(
            dialog: dialog, title: dialog.title(in: scene.section), entries: drawing.entries,
            note: dialog.explanation(model), width: width, rows: place.rows)
        drawing.add(view.lines, in: Rectangle(column: column, row: place.row, columns: width, rows: place.rows))
        for (row, entry) in view.places {
            drawing.add(
                drawing.entries[entry].action,
                in: Rectangle(column: column, row: place.row + row, columns: width, rows: 1))
        }
    }

    // MARK: - Around the view

    /// The answer, and at the right the account and whether it is reached.
    private var header: StyledLine {
        let answer = model.usage.answer(cells: min(columns, Layout.textColumns) - 1)
        let right = accountText.truncated(toCells: max(0, columns - answer.cells - 5))
        var line = StyledLine(" ")
        line.append(answer)
        guard CellWidth.of(right) >= min(8, CellWidth.of(accountText)) else { return line }
        line.pad(toCells: columns - CellWidth.of(right) - 1)
        let style: TextStyle =
            switch link.state {
            case .removed: .colored(.red)
            case .offline: .colored(.yellow)
            case .online, .notJoined: .dim
            }
        return line.appending(right, style)
    }

    private var link: UsageData.Link { model.usage.data.link }

    private var accountText: String {
        let account = model.data.account.map { VisibleText.escape($0.name) } ?? "this machine only"
        if link.state == .removed { return "removed: ubq join LINE · " + account }
        guard link.state == .offline else { return account }
        let seen = link.lastSeen.map { "offline, last seen " + model.times.past($0) }
        return (seen ?? "offline") + " · " + account
    }

    private func drawNavigation(_ drawing: inout Drawing) {
        if let place = layout.tabs {
            let strip = NavigationView.tabs(scene.section, columns: columns)
            drawing.add([strip.line], in: place)
            for (section, cells) in strip.places {
                drawing.add(
                    .command(section.command),
                    in: Rectangle(column: cells.lowerBound, row: place.row, columns: cells.count, rows: 1))
            }
        }
        guard let place = layout.sidebar else { return }
        drawing.add(NavigationView.sidebar(scene.section, model: model), in: place)
        for section in Section.allCases {
            drawing.add(
                .command(section.command),
                in: Rectangle(row: place.row + section.digit, columns: place.columns, rows: 1))
        }
        drawing.add(
            [StyledLine](repeating: StyledLine("│", .faint), count: place.rows),
            in: Rectangle(column: place.columns, row: place.row, columns: 1, rows: place.rows))
    }
}
