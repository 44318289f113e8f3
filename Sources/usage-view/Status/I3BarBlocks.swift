import Commands
import Essentials
import TerminalText
import UsageState

/// The protocol of i3bar and swaybar: a header, then an endless array of lines of blocks.
enum I3BarBlocks {
    private struct Header: Encodable {
        let version = 1
        let clickEvents = true

        enum CodingKeys: String, CodingKey {
            case version
            case clickEvents = "click_events"
        }
    }

    private struct Block: Encodable {
        let name = "usage-view"
        /// The account and window that a click is about.
        let instance: String
        let fullText: String
        let shortText: String
        let color: String?
        let urgent: Bool

        enum CodingKeys: String, CodingKey {
            case name, instance, color, urgent
            case fullText = "full_text"
            case shortText = "short_text"
        }
    }

    /// The lines before the first line of blocks.
    static var header: String {
        get throws { try json(Header()) + "\n[" }
    }

    /// One line of blocks, without the comma that follows it in the endless array.
    static func line(_ text: StatusText) throws -> String {
        var blocks = text.line.items.map { item in
            let fields = text.fields(item)
            let color = item.urgency?.style.color
            return Block(
                instance: fields.id + "/" + fields.window, fullText: fitted(text.styled(item), to: text.maxWidth),
                shortText: fitted(text.styled(item, isShort: true), to: text.maxWidth), color: color?.hexadecimal,
                urgent: item.urgency?.needsAttention ?? false)
        }
        if text.line.isRemoved {
            let removed = StatusText.removed
            blocks.insert(
                Block(
                    instance: "", fullText: removed, shortText: removed,
                    color: TextStyle.Color.red.hexadecimal, urgent: true), at: 0)
        }
        let nothing = Block(
            instance: "", fullText: StatusText.nothing, shortText: StatusText.nothing, color: nil, urgent: false)
        return try json(blocks.isEmpty ? [nothing] : blocks)
    }

    private static func fitted(_ line: StyledLine, to width: Int?) -> String {
        (width.map { line.truncated(toCells: $0) } ?? line).plainText
    }

    private static func json(_ document: some Encodable) throws -> String {
        String(decoding: try JSONOutput.data(document), as: UTF8.self).trimmed()
    }
}

/// A click on a block, as the bar reports it on standard input.
struct I3BarClick: Decodable, Sendable, Equatable {
    /// 1 left, 2 middle, 3 right, 4 and 5 the wheel.
    let button: Int

    /// Nil for a line that is not a click: the start of the array, or something else.
    init?(line: some Collection<UInt8>) {
        let json = line.drop { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: " ") }
        // What is no click does nothing.
        guard let click = try? JSONDecoder().decode(I3BarClick.self, from: Data(json)) else { return nil }
        self = click
    }
}

/// What clicks have chosen since the start.
struct StatusChoice: Sendable, Equatable {
    var measure = ViewOptions.Measure.used
    var isAbsolute = false
    var selection = UsageSelection()

    /// Left: used or left. Middle: countdowns or clock times. Right and the wheel: the next and previous provider;
    /// between the last and the first, the window that ends first.
    mutating func handle(_ click: I3BarClick, providers: [String]) {
        switch click.button {
        case 1: measure = measure == .used ? .left : .used
        case 2: isAbsolute.toggle()
        case 3, 5: move(by: 1, among: providers)
        case 4: move(by: -1, among: providers)
        default: break
        }
    }

    private mutating func move(by step: Int, among providers: [String]) {
        var names: [String?] = [nil]
        for name in providers where !names.contains(name) { names.append(name) }
        let shown = selection.providers.count == 1 ? selection.providers.first : nil
        let index = names.firstIndex(of: shown) ?? 0
        let next = names[(index + step + names.count) % names.count]
        selection.providers = next.map { [$0] } ?? []
    }
}
