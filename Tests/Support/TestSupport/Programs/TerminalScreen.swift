/// A small terminal: it applies what a program writes to a grid of cells. It knows what programs of this package use;
/// anything else is noted in `unknown`.
package struct TerminalScreen: Sendable, Equatable {
    package struct Cell: Sendable, Equatable {
        /// A character with its combining marks; empty in the second cell of a wide one.
        package var text = " "
        /// Parameters of SGR in ascending order; of a color by its parts, the number 0x1RRGGBB.
        package var style: [Int] = []

        package init(text: String = " ", style: [Int] = []) {
            self.text = text
            self.style = style
        }
    }

    package private(set) var cells: [[Cell]]
    /// Modes that are on, without the two that a terminal starts with: 7 (text wraps) and 25 (the cursor is shown).
    package private(set) var modes: Set<Int> = [7, 25]
    /// Modes that were asked for by DECRQM.
    package private(set) var modeQueries: [Int] = []
    /// Control characters and sequences that it does not know.
    package private(set) var unknown: [String] = []
    package private(set) var columns: Int
    package private(set) var rows: Int
    private let width: @Sendable (Character) -> Int
    private var row = 0
    private var column = 0
    private var style: [Int] = []
    /// The main screen with its cursor, while the alternate one is shown.
    private var main: (cells: [[Cell]], row: Int, column: Int)?
    /// The start of a sequence or character that has not ended.
    private var rest: [UInt8] = []

    package static func == (left: Self, right: Self) -> Bool { left.cells == right.cells && left.modes == right.modes }

    /// - Parameter width: how many cells a character takes: 0, 1 or 2.
    package init(columns: Int, rows: Int, width: @escaping @Sendable (Character) -> Int) {
        (self.columns, self.rows, self.width) = (columns, rows, width)
        cells = Self.blank(columns, rows)
    }

    private static func blank(_ columns: Int, _ rows: Int) -> [[Cell]] {
        Array(repeating: Array(repeating: Cell(), count: columns), count: rows)
    }

    /// A window of another size, with `noise` in every cell: what a terminal does to its text then is its own business.
    package mutating func resize(columns: Int, rows: Int, noise: Cell = Cell()) {
        (self.columns, self.rows) = (columns, rows)
        cells = Array(repeating: Array(repeating: noise, count: columns), count: rows)
        main?.cells = Self.blank(columns, rows)
        main?.row = 0
        main?.column = 0
        (row, column) = (rows - 1, columns - 1)
    }

    /// The text of each row, without spaces at its end.
    package var text: String {
        cells.map { row in
            let line = row.map(\.text).joined()
            let end = line.lastIndex { $0 != " " }.map { line.index(after: $0) }
            return String(line[..<(end ?? line.startIndex)])
        }.joined(separator: "\n")
    }

    // MARK: - Input

    package mutating func apply(_ text: String) { apply(Array(text.utf8)) }

    package mutating func apply(_ bytes: some Sequence<UInt8>) {
        rest += bytes
        var run = ""
        var scalars = Substring(String(decoding: completePart(), as: UTF8.self)).unicodeScalars
        while let scalar = scalars.popFirst() {
            guard scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) else {
                run.unicodeScalars.append(scalar)
                continue
            }
            put(run)
            run = ""
            switch scalar {
            case "\u{1B}":
                guard let sequence = Self.sequence(&scalars) else {
                    rest = Array("\u{1B}\(String(scalars))".utf8) + rest
                    return
                }
                perform(sequence)
            case "\r": column = 0
            case "\n": lineFeed()
            case "\u{8}": column = max(0, column - 1)
            default: unknown.append("U+" + String(scalar.value, radix: 16))
            }
        }
        put(run)
    }

    /// Takes from `rest` all but an incomplete character at its end.
    private mutating func completePart() -> [UInt8] {
        var end = rest.count
        if let lead = rest.suffix(4).lastIndex(where: { $0 & 0xC0 != 0x80 }) {
            let length = rest[lead] < 0xC0 ? 1 : rest[lead] < 0xE0 ? 2 : rest[lead] < 0xF0 ? 3 : 4
            if rest.count - lead < length { end = lead }
        }
        defer { rest.removeFirst(end) }
        return Array(rest[..<end])
    }

    /// What follows an escape character; nil, with nothing taken, if it has not ended.
    private static func sequence(_ scalars: inout Substring.UnicodeScalarView) -> String? {
        var ahead = scalars
        var sequence = ""
        while let next = ahead.popFirst() {
            sequence.unicodeScalars.append(next)
            if sequence == "[" { continue }
            if !sequence.hasPrefix("[") || (0x40...0x7E).contains(next.value) {
                scalars = ahead
                return sequence
            }
        }
        return nil
    }

    private mutating func perform(_ sequence: String) {
        guard sequence.first == "[", let final = sequence.last else {
            return unknown.append(sequence)
        }
        let body = sequence.dropFirst().dropLast()
        if body.first == "?" { return setModes(body.dropFirst(), final, sequence) }
        let numbers = body.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
        let first = numbers.first ?? 0
        switch final {
        case "H":
            row = min(max(1, first), rows) - 1
            column = min(max(1, numbers.count > 1 ? numbers[1] : 1), columns) - 1
        case "C": column = min(column + max(1, first), columns - 1)
        case "J" where first == 2: for row in 0..<rows { blank(row, 0..<columns) }
        case "J" where first == 0:
            blank(row, column..<columns)
            for row in row + 1..<max(rows, row + 1) { blank(row, 0..<columns) }
        case "K" where first == 0: blank(row, min(column, columns)..<columns)
        case "X": blank(row, column..<min(columns, column + max(1, first)))
        case "m" where numbers.suffix(5).starts(with: [38, 2]):
            for number in numbers.dropLast(5) { setStyle(number) }
            setStyle(numbers.suffix(3).reduce(1) { $0 << 8 | $1 })
        case "m": for number in numbers { setStyle(number) }
        default: unknown.append(sequence)
        }
    }

    private mutating func setModes(_ body: Substring, _ final: Character, _ sequence: String) {
        let numbers = body.filter { $0 != "$" }.split(separator: ";").compactMap { Int($0) }
        switch final {
        case "p" where body.hasSuffix("$"): modeQueries += numbers
        case "h":
            modes.formUnion(numbers)
            if numbers.contains(1_049), main == nil {
                main = (cells, row, column)
                cells = Self.blank(columns, rows)
            }
        case "l":
            modes.subtract(numbers)
            if numbers.contains(1_049), let (cells, row, column) = main {
                (self.cells, self.row, self.column) = (cells, row, column)
                main = nil
            }
        default: unknown.append(sequence)
        }
    }

    private mutating func setStyle(_ code: Int) {
        switch code {
        case 0: style = []
        case 30...37, 90...97: style = style.filter { !(30...37).contains($0) && $0 < 90 } + [code]
        default: style = style.filter { $0 != code } + [code]
        }
        style.sort()
    }

    // MARK: - Cells

    private mutating func put(_ text: String) {
        for character in text {
            let width = width(character)
            if width == 0 {
                let base = cells[row][..<min(column, columns)].lastIndex { !$0.text.isEmpty }
                if let base { cells[row][base].text.append(character) }
                continue
            }
            if column + width > columns {
                guard modes.contains(7) else {
                    column = columns - width
                    if column >= 0 { put(String(character)) }
                    continue
                }
                column = 0
                lineFeed()
            }
            blank(row, column..<column + width)
            cells[row][column] = Cell(text: String(character), style: style)
            if width == 2 { cells[row][column + 1] = Cell(text: "", style: style) }
            column += width
        }
    }

    private mutating func lineFeed() {
        row += 1
        guard row >= rows else { return }
        cells.removeFirst()
        cells.append(Array(repeating: Cell(), count: columns))
        row = rows - 1
    }

    /// Blanks cells, and the other halves of wide characters of which one half is among them.
    private mutating func blank(_ row: Int, _ range: Range<Int>) {
        guard !range.isEmpty else { return }
        if cells[row][range.lowerBound].text.isEmpty, range.lowerBound > 0 {
            cells[row][range.lowerBound - 1] = Cell()
        }
        if range.upperBound < columns, cells[row][range.upperBound].text.isEmpty {
            cells[row][range.upperBound] = Cell()
        }
        for column in range { cells[row][column] = Cell() }
    }
}
