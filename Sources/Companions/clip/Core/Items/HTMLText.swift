import Essentials

/// The text of an HTML fragment, as far as a title needs it: no tags, comments, scripts or styles; entities decoded;
/// white space as a browser would collapse it, with line ends where blocks end.
enum HTMLText {
    static func text(of data: Data, limit: Int) -> String {
        var rest = Substring(String(decoding: ItemTitle.markup(data, forText: limit), as: UTF8.self))
        var text = CollapsedText(limit: limit)
        while let character = rest.first, !text.isFull {
            switch character {
            case "<": skipTag(&rest, &text)
            case "&": text.append(entity(&rest))
            default:
                rest.removeFirst()
                text.append(character)
            }
        }
        return text.value
    }

    private static func skipTag(_ rest: inout Substring, _ text: inout CollapsedText) {
        if rest.hasPrefix("<!--") {
            skip(&rest, past: "-->")
            return
        }
        let name = rest.dropFirst().prefix { $0.isLetter || $0.isNumber || $0 == "/" || $0 == "!" }
            .prefix(16).lowercased()
        guard !name.isEmpty else {
            rest.removeFirst()
            text.append("<")
            return
        }
        skip(&rest, past: ">")
        if ["script", "style", "head", "title"].contains(name) {
            skip(&rest, past: "</\(name)")
            skip(&rest, past: ">")
        } else if blocks.contains(name.replacing("/", with: "")) {
            text.breakLine()
        }
    }

    /// - Parameter mark: ASCII in lower case.
    private static func skip(_ rest: inout Substring, past mark: String) {
        let mark = Array(mark.utf8)
        let end = rest.withUTF8 { bytes -> Int? in
            guard bytes.count >= mark.count else { return nil }
            return (mark.count...bytes.count).first { end in
                mark.indices.allSatisfy { lowercase(bytes[end - mark.count + $0]) == mark[$0] }
            }
        }
        rest = end.map { rest[rest.utf8.index(rest.startIndex, offsetBy: $0)...] } ?? rest[rest.endIndex...]
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    private static let blocks: Set = [
        "br", "p", "div", "li", "tr", "ul", "ol", "table", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "blockquote",
    ]

    private static let named: [Substring: Character] = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": "\u{A0}",
        "ndash": "–", "mdash": "—", "hellip": "…", "copy": "©", "laquo": "«", "raquo": "»",
    ]

    /// The character of an entity; an ampersand that begins none is itself.
    private static func entity(_ rest: inout Substring) -> Character {
        rest.removeFirst()
        let name = rest.prefix(10).prefix { $0.isLetter || $0.isNumber || $0 == "#" }
        guard rest.dropFirst(name.count).first == ";" else { return "&" }
        let digits = name.dropFirst()
        let number = digits.lowercased().hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        let character = name.hasPrefix("#") ? number.flatMap(Unicode.Scalar.init).map(Character.init) : named[name]
        guard let character else { return "&" }
        rest = rest.dropFirst(name.count + 1)
        return character
    }
}

/// Text in which white space is one space, and none is at the ends of lines.
struct CollapsedText {
    private(set) var value = ""
    private var count = 0
    private var gap: Character?
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    var isFull: Bool { count >= limit }

    mutating func breakLine() { gap = "\n" }

    mutating func append(_ character: Character) {
        if character.isWhitespace, character != "\u{A0}" {
            gap = gap ?? " "
            return
        }
        if let gap, count > 0 { add(gap) }
        gap = nil
        add(character)
    }

    private mutating func add(_ character: Character) {
        value.append(character)
        count += 1
    }
}
