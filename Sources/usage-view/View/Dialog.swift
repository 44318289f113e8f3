import TerminalText
import UsageState

/// What a key or a click on a place leads to.
enum Action: Sendable, Equatable {
    case command(Command)
    /// An entry of another section.
    case show(Section, id: String)
    /// An entry of the list; opens it if it is selected already.
    case select(id: String)
    case close
}

/// A list that covers the view.
struct Dialog: Sendable, Equatable {
    enum Kind: Sendable { case help, commands, searchAll, account }

    let kind: Kind
    /// What has been typed.
    var text = ""
    var selected = 0

    init(kind: Kind) { self.kind = kind }

    var hasInput: Bool { kind == .commands || kind == .searchAll }

    struct Entry {
        let key: String
        let title: String
        let action: Action
    }

    private static let resultCount = 200

    func title(in section: Section) -> String {
        switch kind {
        case .help: "Help for \(section.title)"
        case .commands: "Commands"
        case .searchAll: "Search everything"
        case .account: "Account"
        }
    }

    func entries(_ model: LiveModel, _ state: LiveState) -> [Entry] {
        switch kind {
        case .help: Self.entries(Command.usual(in: state.scene.section))
        case .commands: Self.entries(Command.matching(text))
        case .searchAll: text.isEmpty ? [] : results(model, state)
        case .account:
            [Entry(key: "●", title: model.data.account?.title ?? "this machine only", action: .close)]
        }
    }

    private static func entries(_ commands: [Command]) -> [Entry] {
        commands.map { Entry(key: $0.keyText, title: $0.title, action: .command($0)) }
    }

    private func results(_ model: LiveModel, _ state: LiveState) -> [Entry] {
        let found = Section.allCases.filter { $0 != .help }.flatMap { section in
            SectionContent(section: section, model: model, state: state)
                .listing(width: Layout.dialogColumns).items.filter { $0.matches(text) }
                .map { item in
                    let words = item.lines.first?.plainText.split(separator: " ") ?? []
                    return Entry(
                        key: section.title, title: words.joined(separator: " "), action: .show(section, id: item.id))
                }
        }
        return Array(found.prefix(Self.resultCount))
    }

    /// What is said below the entries.
    func explanation(_ model: LiveModel) -> [String] {
        switch kind {
        case .help: return ["The command list, :, has all commands."]
        case .commands: return []
        case .searchAll: return text.isEmpty ? ["Type what to look for."] : []
        case .account:
            guard let account = model.data.account else {
                return [
                    "No account has been joined; only what is pushed on this machine is shown.",
                    "To join one, with the line that ubq up prints there:  ubq join LINE",
                ]
            }
            guard !account.isFromEnvironment else {
                return [
                    "Environment variables name this account. To see another one, start the viewer with "
                        + "another UBIQUITY_DAEMON and UBIQUITY_TOKEN."
                ]
            }
            return [
                "A machine is in one account at a time. To switch, run:  ubq leave",
                "and with the line that ubq up prints there:  ubq join LINE",
                "Every open viewer then shows the other account.",
            ]
        }
    }
}

extension LiveData.Account {
    /// Escaped.
    var title: String {
        VisibleText.escape("\(name) at \(daemon), this machine is \(device)")
    }
}

/// The lines of a dialog: title, what was typed, entries, and a note.
struct DialogView {
    let lines: [StyledLine]
    /// The row of each shown entry.
    let places: [(row: Int, entry: Int)]

    init(dialog: Dialog, title: String, entries: [Dialog.Entry], note: [String], width: Int, rows: Int) {
        var lines = [StyledLine(title.truncated(toCells: width), .bold)]
        if dialog.hasInput {
            lines.append(StyledLine("> " + VisibleText.escape(dialog.text) + "_").truncated(toCells: width))
        }
        let notes = note.flatMap { $0.wrapped(toCells: width) }
        let room = max(1, rows - lines.count - (notes.isEmpty ? 0 : notes.count + 1))
        let viewport = Viewport(
            wanted: 0, rows: room, total: entries.count, selected: dialog.selected..<(dialog.selected + 1))
        let keyCells = min(18, entries.map { CellWidth.of($0.key) }.max() ?? 0)
        var places: [(row: Int, entry: Int)] = []
        for index in entries.indices.dropFirst(viewport.first).prefix(room) {
            let (entry, isSelected) = (entries[index], index == dialog.selected)
            var line = StyledLine(isSelected ? "▌ " : "  ", .bold)
            line.append(entry.key.fitted(toCells: keyCells) + "  ", .bold)
            line.append(entry.title, isSelected ? .bold : .plain)
            places.append((lines.count, index))
            lines.append(line.truncated(toCells: width))
        }
        if entries.isEmpty, dialog.hasInput, !dialog.text.isEmpty {
            lines.append(StyledLine("  nothing contains that", .dim))
        }
        if !notes.isEmpty { lines += [StyledLine()] + notes.map { StyledLine($0, .dim) } }
        self.lines = lines
        self.places = places
    }
}
