@testable import clip
import Foundation
import Commands
import TerminalText

/// The list of `clip pick` over a history that does what the keys ask for, without a terminal and a store.
struct PickSample {
    var history: ClipHistory
    var state: PickState
    /// What is on the clipboard, by the title of the item.
    private(set) var copied: [String] = []
    private(set) var hasLeft = false
    private var parser = KeyParser(isChorded: true)
    private var time: Int64

    /// - Parameter texts: copied one after the other, so that the last is the first of the list.
    init(
        _ texts: [String], settings: ClipSettings = ClipSettings(), timer: MatchTimer = MatchTimer { .zero }
    ) {
        history = ClipHistory(limits: HistoryLimits(size: 999))
        state = PickState(settings: settings, timer: timer)
        time = 0
        for text in texts { add(ClipContents(text: text)) }
        show()
    }

    private mutating func show() { state.show(history, localContents: []) }

    private mutating func add(_ contents: ClipContents, device: String = "desk") {
        time += 1_000
        let item = ItemByteLimit().item(of: contents, on: device, at: Timestamp(milliseconds: time))
        _ = history.add(item, ItemKey(of: contents), contents: contents)
    }

    /// As another process does it while the list is shown.
    mutating func copyElsewhere(_ contents: ClipContents, device: String = "desk") {
        add(contents, device: device)
        show()
    }

    mutating func copyElsewhere(_ text: String) { copyElsewhere(ClipContents(text: text)) }

    mutating func removeElsewhere(_ texts: String...) {
        _ = history.remove(texts.map { ItemKey(of: ClipContents(text: $0)) })
        show()
    }

    /// What a terminal sends.
    mutating func type(_ bytes: String) {
        for key in parser.keys(from: Array(bytes.utf8)) + parser.endOfInput() { perform(state.handle(key)) }
    }

    private mutating func perform(_ outcome: PickState.Outcome) {
        time += 1_000
        let now = Timestamp(milliseconds: time)
        var randomness = SystemRandomNumberGenerator()
        switch outcome {
        case .draw: return
        case .leave: hasLeft = true
        case .copy(let key, let isPlain): copied.append(name(key) + (isPlain ? " (plain)" : ""))
        case .add(let text):
            add(ClipContents(text: text))
            copied.append(text)
        case .delete(let key): _ = history.remove([key])
        case .togglePin(let key): _ = history.togglePin(key, at: now, using: &randomness)
        case .clear(let withPins): _ = history.clear(withPins: withPins)
        }
        show()
    }

    private func name(_ key: ItemKey) -> String {
        let title = state.title(of: key)
        return title.isEmpty ? "image" : title
    }

    var titles: [String] { state.hits.map { name(state.keys[$0.index]) } }
    var selected: String? { state.selection.map(name) }

    func pinLetter(_ text: String) -> Character? {
        history.items[ItemKey(of: ClipContents(text: text))]?.pin.pin?.letter?.character
    }

    /// The screen, a row a line.
    func text(columns: Int = 72, rows: Int = 20) -> String {
        lines(columns: columns, rows: rows).map(\.withoutTrailingSpaces.plainText).joined(separator: "\n")
    }

    func lines(columns: Int = 72, rows: Int = 20, isColored: Bool = true) -> [StyledLine] {
        var state = state
        state.size = ScreenSize(columns: columns, rows: rows)
        return PickScreen(state: state, now: Date(timeIntervalSince1970: 600), isColored: isColored).lines
    }
}

/// What terminals send for keys.
enum Sent {
    static let (up, down) = ("\u{1B}[A", "\u{1B}[B")
    static let (enter, escape, tab, backspace) = ("\r", "\u{1B}", "\t", "\u{7F}")
    static let (altEnter, delete, help) = ("\u{1B}\r", "\u{1B}[3~", "\u{1B}OP")

    static func control(_ letter: Character) -> String {
        String(decoding: [(letter.asciiValue ?? 0) & 0x1F], as: UTF8.self)
    }

    static func alt(_ character: Character) -> String { "\u{1B}\(character)" }

    static func paste(_ text: String) -> String { "\u{1B}[200~\(text)\u{1B}[201~" }
}
