import TerminalText

/// A drawn screen, and what keys and clicks need to know about it.
struct Drawing {
    struct Region {
        let rectangle: Rectangle
        let action: Action
    }

    fileprivate(set) var screen: Screen = []
    /// The entries of the list, in order, with the lines of each, and which one is selected.
    var ids: [String] = []
    var rows: [Range<Int>] = []
    var selected: Int?
    /// The windows on the list and on the detail, which is nil where there is none.
    var list = Viewport()
    var detail: Viewport?
    /// Those of a dialog.
    var entries: [Dialog.Entry] = []
    /// Later ones are in front.
    var regions: [Region] = []
    let columns: Int
    private var panes: [(place: Rectangle, lines: [StyledLine])] = []

    init(columns: Int = 0) { self.columns = columns }

    /// The lines of a page.
    var page: Int { max(1, (detail?.rows ?? list.rows) - 1) }

    /// What a click on a cell, from 0 at the top left, leads to.
    func action(column: Int, row: Int) -> Action? {
        regions.last { $0.rectangle.contains(column: column, row: row) }?.action
    }

    /// Adds lines in a rectangle, which cuts them. Rectangles do not overlap.
    mutating func add(_ lines: [StyledLine], in place: Rectangle) {
        panes.append((place, lines))
    }

    mutating func add(_ action: Action, in rectangle: Rectangle) {
        regions.append(Region(rectangle: rectangle, action: action))
    }

    /// Puts the parts together.
    ///
    /// - Parameter finish: the last change of each line.
    mutating func compose(rows: Int, finish: (StyledLine) -> StyledLine) {
        let panes = panes.sorted { $0.place.column < $1.place.column }
        screen = (0..<rows).map { row in
            var line = StyledLine()
            for (place, lines) in panes {
                guard lines.indices.contains(row - place.row), row - place.row < place.rows else { continue }
                line.pad(toCells: place.column)
                line.append(lines[row - place.row].truncated(toCells: place.columns))
            }
            return finish(line.truncated(toCells: columns))
        }
    }
}
