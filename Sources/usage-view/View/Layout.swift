/// A part of the screen, in cells from the top left.
struct Rectangle: Sendable, Equatable {
    var column = 0
    var row = 0
    var columns = 0
    var rows = 0

    func contains(column: Int, row: Int) -> Bool {
        (self.column..<self.column + columns).contains(column) && (self.row..<self.row + rows).contains(row)
    }
}

/// Where the parts of the live screen are. A pure function of the size and what there is to show.
struct Layout: Sendable, Equatable {
    /// A size below 40 × 10 shows the list alone, one below 20 × 5 only where it is.
    enum Form: Sendable { case tiny, short, full }

    let form: Form
    private(set) var header: Rectangle?
    private(set) var tabs: Rectangle?
    private(set) var sidebar: Rectangle?
    /// The list, or the detail that covers it.
    private(set) var list = Rectangle()
    /// The detail beside or below the list.
    private(set) var preview: Rectangle?
    private(set) var status: Rectangle?

    /// The widest line of text, for reading.
    static let textColumns = 90
    static let dialogColumns = 70

    /// - Parameter hasPreview: whether the entries of the list have a detail.
    init(columns: Int, rows: Int, settings: ViewSettings, hasPreview: Bool) {
        guard columns >= 40, rows >= 10 else {
            form = columns < 20 || rows < 5 ? .tiny : .short
            header = Rectangle(columns: columns, rows: 1)
            list = Rectangle(row: 1, columns: columns, rows: rows - 1)
            return
        }
        form = .full
        header = Rectangle(columns: columns, rows: 1)
        status = Rectangle(row: rows - 1, columns: columns, rows: 1)
        var body = Rectangle(row: 1, columns: columns, rows: rows - 2)
        let sidebarColumns = Self.sidebarColumns(columns, settings)
        if sidebarColumns > 0 {
            sidebar = Rectangle(row: 1, columns: sidebarColumns, rows: body.rows)
            body.column = sidebarColumns + 1
            body.columns -= sidebarColumns + 1
        } else {
            body.rows -= 1
            let isTop = settings.tabPosition == .top
            tabs = Rectangle(row: isTop ? 1 : rows - 2, columns: columns, rows: 1)
            if isTop { body.row += 1 }
        }
        list = body
        guard hasPreview else { return }
        if columns >= Self.previewLimit {
            let preview = min(Self.textColumns, body.columns / 2)
            list.columns -= preview + 1
            self.preview = Rectangle(
                column: list.column + list.columns + 1, row: body.row, columns: preview, rows: body.rows)
        } else if columns >= 80, rows >= 30 {
            list.rows = (body.rows - 1) / 2
            preview = Rectangle(
                column: body.column, row: body.row + list.rows + 1, columns: body.columns,
                rows: body.rows - list.rows - 1)
        }
    }

    /// The narrowest screen on which the detail is beside the list.
    private static let previewLimit = 120
    /// The narrowest screen with a sidebar that nobody asked for.
    private static let sidebarLimit = 80

    private static func sidebarColumns(_ columns: Int, _ settings: ViewSettings) -> Int {
        let isShown =
            switch (settings.navigation, settings.sidebar) {
            case (.tabs, _), (.auto, .hidden): false
            case (.sidebar, _), (.auto, .shown): true
            case (.auto, .auto): columns >= sidebarLimit
            }
        return isShown ? NavigationView.sidebarColumns : 0
    }

    /// Whether there is a sidebar, in place of tabs.
    static func hasSidebar(columns: Int, _ settings: ViewSettings) -> Bool { sidebarColumns(columns, settings) > 0 }

}
