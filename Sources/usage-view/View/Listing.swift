import TerminalText
import UsageState

/// An entry of a section's list.
struct ListItem {
    /// Stable while what it stands for exists.
    let id: String
    /// None wider than the column that it was drawn for.
    let lines: [StyledLine]
    /// Whether an empty line is before and after it.
    let isSpaced: Bool
    /// Before its first line, one cell wide.
    let sign: String
    /// What a search looks through, beside the lines.
    private let moreText: () -> String

    init(
        _ id: String, _ lines: [StyledLine], isSpaced: Bool = false, sign: String = " ",
        moreText: @autoclosure @escaping () -> String = ""
    ) {
        self.id = id
        self.lines = lines
        self.isSpaced = isSpaced
        self.sign = sign
        self.moreText = moreText
    }

    /// The first line alone.
    var title: ListItem { ListItem(id, Array(lines.prefix(1)), moreText: moreText()) }

    /// Whether it contains every word, in any case.
    func matches(_ query: String) -> Bool {
        let text = (lines.map(\.plainText) + [moreText()]).joined(separator: " ").lowercased()
        return query.lowercased().split(separator: " ").allSatisfy { text.contains($0) }
    }
}

/// What a section lists.
struct Listing {
    var items: [ListItem]
    /// Shown without items: why there are none, and the next step.
    var empty: [StyledLine] = []
    /// Below the items.
    var footer: [StyledLine] = []
}

/// A listing on a number of columns: its lines, and where its items are.
struct PlacedListing {
    /// A mark, and a sign or a space, before every line of an item.
    static let gutter = 2

    private(set) var lines: [StyledLine] = []
    private(set) var ids: [String] = []
    /// The lines and the first cell of each item.
    private(set) var places: [(rows: Range<Int>, column: Int)] = []
    let columnCells: Int

    /// - Parameter selection: the id of the item to mark; nil marks none.
    init(_ listing: Listing, columnCount: Int, columnCells: Int, selection: String?, isFocused: Bool) {
        self.columnCells = columnCells
        ids = listing.items.map(\.id)
        let stack = MasonryLayout(
            listing.items.map { (height: $0.lines.count, isSpaced: $0.isSpaced) },
            columns: columnCount)
        places = zip(stack.places, listing.items).map { place, item in
            (place.row..<(place.row + item.lines.count), place.column * columnCells)
        }
        lines = [StyledLine](repeating: StyledLine(), count: stack.height)
        // From the left, so that a line is only ever padded.
        let order = places.indices.sorted { places[$0].column < places[$1].column }
        for index in order {
            let item = listing.items[index]
            for (row, line) in zip(places[index].rows, item.lines) {
                lines[row].pad(toCells: places[index].column)
                let isMarked = item.id == selection
                lines[row].append(isMarked ? "▌" : " ", isFocused ? .bold : .dim)
                lines[row].append(row == places[index].rows.lowerBound ? item.sign : " ", .bold)
                lines[row].append(line.truncated(toCells: columnCells - Self.gutter))
            }
        }
        let indented = { (line: StyledLine) in
            var indented = StyledLine(String(repeating: " ", count: Self.gutter))
            indented.append(line)
            return indented
        }
        if listing.items.isEmpty { lines += listing.empty.map(indented) }
        if !listing.footer.isEmpty { lines += [StyledLine()] + listing.footer.map(indented) }
    }

    /// The lines of an item; of the last one also the footer.
    func rows(of index: Int) -> Range<Int> {
        let rows = places[index].rows
        return index == places.count - 1 ? rows.lowerBound..<max(rows.upperBound, lines.count) : rows
    }
}

/// Which lines of a text are in a window on it.
struct Viewport: Sendable, Equatable {
    var first = 0
    var rows = 0
    var total = 0

    var limit: Int { max(0, total - rows) }
    var hidden: Int { max(0, total - first - rows) }

    init() {}

    /// - Parameters:
    ///   - wanted: the first line, which is moved as little as possible.
    ///   - selected: lines to show; the window stays within them if they are more.
    init(wanted: Int, rows: Int, total: Int, selected: Range<Int>? = nil) {
        self.rows = max(0, rows)
        self.total = total
        first = wanted
        if let selected {
            let (top, bottom) = (selected.lowerBound, selected.upperBound - self.rows)
            first = min(max(first, min(top, bottom)), max(top, bottom))
        }
        first = min(max(0, first), limit)
    }
}
