import ArgumentParser
import Commands
import Essentials
import TerminalText

struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the history.",
        discussion: """
            On a terminal with numbers; in a pipe a line each of id, tab and title, for fzf, rofi or dmenu. \
            --format writes other lines: id, number, title, pin, copies, device, type and bytes are replaced, \
            \\t and \\n are a tab and a line feed.
            """)

    @Option(help: "Only items whose title matches.")
    var search: String?

    @Option(help: "How: exact, fuzzy, regexp or mixed; by default as set.")
    var mode: SearchMode?

    @Option(help: "By: lastCopiedAt, firstCopiedAt or numberOfCopies; by default as set.")
    var sort: ItemOrder?

    @Option(help: "At most so many.")
    var limit: Int?

    @Option(help: "Lines of another form, such as 'id\\ttitle'.")
    var format: String?

    @Flag(help: "Print a JSON array.")
    var json = false

    func validate() throws {
        guard limit.map({ $0 > 0 }) ?? true else { throw ValidationError("--limit must be at least 1") }
    }

    func run() async throws {
        let opened = try OpenedHistory()
        defer { opened.close() }
        try await opened.exchange.beforeReading()
        let list = opened.list
        let rows = try found(in: list).prefix(limit ?? .max)
        if json { return try Console.printJSON(rows.map(\.document), isIndented: true) }
        var text = ""
        if let format {
            let form = LineForm(format)
            for row in rows { text += form.line(row) + "\n" }
        } else if let columns = Console.outputColumns {
            for line in ItemRow.lines(rows, columns: columns) { text += line + "\n" }
        } else {
            for row in rows { text += row.key.identifier + "\t" + VisibleText.escape(row.title) + "\n" }
        }
        try Console.write(Data(text.utf8))
        guard Console.isOutputTerminal, search == nil else { return }
        for line in opened.store.state.droppedText(list.history.limits) { Console.note(line) }
    }

    private func found(in list: HistoryList) throws -> [ItemRow] {
        let numbers = Dictionary(uniqueKeysWithValues: zip(list.keys, 1...))
        let keys = sort.map { list.history.sorted(by: $0, pins: list.settings.pins) } ?? list.keys
        func row(_ key: ItemKey, _ title: String) -> ItemRow? {
            list.history.items[key].map { ItemRow(key: key, item: $0, number: numbers[key] ?? 0, title: title) }
        }
        guard let search, !search.isEmpty else {
            let keys = limit.map { keys.prefix($0) } ?? keys[...]
            return keys.compactMap { row($0, list.title(of: $0)) }
        }
        let titles = keys.map(list.title)
        let results = SearchIndex(titles).search(
            search, mode: mode ?? list.settings.searchMode, timer: MatchTimer(ContinuousClock()))
        if let reason = results.invalidPattern {
            throw CommandFailure(.usage, "'\(search)' is not a regular expression: \(reason)")
        }
        if results.isCutShort {
            Console.report("the search took too long and was cut short; use a simpler expression")
        }
        return results.hits.compactMap { row(keys[$0.index], titles[$0.index]) }
    }
}

/// An item in a list.
struct ItemRow {
    let key: ItemKey
    let item: ClipItem
    let number: Int
    let title: String

    var pin: String { item.isPinned ? item.pin.pin?.letter.map { String($0.character) } ?? "*" : "" }

    /// For a terminal so wide.
    static func lines(_ rows: some Collection<ItemRow>, columns: Int) -> [String] {
        let width = rows.map { "\($0.number)".count }.max() ?? 1
        return rows.map { row in
            let number = "\(row.number)".padded(toCells: width, alignment: .trailing)
            let head = number + " " + row.pin.padded(toCells: 1) + " "
            let title = VisibleText.escape(String(row.title.prefix(columns)))
            return head + title.truncated(toCells: max(8, columns - width - 3))
        }
    }

    struct Document: Encodable {
        var id: String
        var number: Int
        var title: String
        var pin: String?
        var isPinned: Bool
        var types: [String]
        var bytes: UInt64
        /// Whether the contents are on the machine of origin alone.
        var isStub: Bool
        var device: String
        var application: String?
        var copies: Int
        var firstCopied: Date
        var lastCopied: Date
    }

    var document: Document {
        let stub = item.stub
        return Document(
            id: key.identifier, number: number, title: title, pin: pin.isEmpty ? nil : pin, isPinned: item.isPinned,
            types: stub.parts.map(\.type.rawValue), bytes: stub.byteCount, isStub: item.contents == nil,
            device: item.origin.device, application: item.origin.application, copies: item.copyCount,
            firstCopied: item.firstCopied.date, lastCopied: item.lastCopied.date)
    }
}

/// A line of a list in which words stand for fields.
private struct LineForm {
    private let pieces: [(ItemRow) -> String]

    private static var fields: [(name: String, value: (ItemRow) -> String)] {
        [
            ("id", { $0.key.identifier }), ("number", { "\($0.number)" }), ("title", { $0.title }), ("pin", { $0.pin }),
            ("copies", { "\($0.item.copyCount)" }), ("device", { $0.item.origin.device }),
            ("type", { $0.item.stub.parts.first?.type.rawValue ?? "" }), ("bytes", { "\($0.item.stub.byteCount)" }),
        ]
    }

    init(_ format: String) {
        var pieces: [(ItemRow) -> String] = []
        var rest = format.replacing("\\t", with: "\t").replacing("\\n", with: "\n")[...]
        while !rest.isEmpty {
            let word = rest.prefix { $0.isLetter }
            if let field = Self.fields.first(where: { $0.name == word }) {
                pieces.append { VisibleText.escape(field.value($0)) }
                rest = rest.dropFirst(word.count)
            } else {
                let text = word.isEmpty ? rest.prefix(1) : word
                pieces.append { _ in String(text) }
                rest = rest.dropFirst(text.count)
            }
        }
        self.pieces = pieces
    }

    func line(_ row: ItemRow) -> String { pieces.map { $0(row) }.joined() }
}

extension SearchMode: ExpressibleByArgument {}
extension ItemOrder: ExpressibleByArgument {}
extension CopyTarget: ExpressibleByArgument {}
