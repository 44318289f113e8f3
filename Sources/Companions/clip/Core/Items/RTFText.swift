import Essentials

/// The text of an RTF document (Rich Text Format 1.9.1), as far as a title needs it: paragraphs, tabs, characters of
/// code page 1252 and Unicode; no fonts, colors, styles, pictures or fields' instructions.
struct RTFText {
    static func text(of data: Data, limit: Int) -> String {
        var reader = RTFText(rest: ItemTitle.markup(data, forText: limit), limit: limit)
        reader.read()
        return reader.scalars.reduce(into: "") { $0.unicodeScalars.append($1) }.trimmed(where: \.isNewline)
    }

    private var rest: Data
    private let limit: Int
    private var scalars: [Unicode.Scalar] = []
    private var group = Group()
    private var outer: [Group] = []
    private var pendingHighSurrogate: UInt16?
    /// Characters after `\u` that stand for it where Unicode is not understood.
    private var skipping = 0

    private struct Group {
        var isHidden = false
        var replacementCount = 1
    }

    private static let depthLimit = 256
    private static let hidden: Set = [
        "fonttbl", "colortbl", "stylesheet", "info", "pict", "header", "footer", "fldinst",
        "listtable", "listoverridetable", "generator", "themedata", "datastore",
    ]
    private static let symbols: [String: Unicode.Scalar] = [
        "par": "\n", "line": "\n", "tab": "\t", "emdash": "—", "endash": "–", "bullet": "•",
        "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”",
    ]

    private mutating func read() {
        // Characters may have several scalars; more of them than this are cut.
        while scalars.count / 4 < limit, let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "{"):
                guard outer.count < Self.depthLimit else { return }
                outer.append(group)
                skipping = 0
            case UInt8(ascii: "}"):
                guard let last = outer.popLast() else { return }
                group = last
                skipping = 0
            case UInt8(ascii: "\\"): control()
            case UInt8(ascii: "\r"), UInt8(ascii: "\n"): break
            default: append(byte)
            }
        }
    }

    private mutating func control() {
        guard let first = rest.first else { return }
        guard ByteSet.letters.contains(first) else {
            rest.removeFirst()
            symbol(first)
            return
        }
        let word = String(decoding: take(32, while: ByteSet.letters.contains), as: UTF8.self)
        let digits = take(8) { ByteSet.digits.contains($0) || $0 == UInt8(ascii: "-") }
        let number = Int32(String(decoding: digits, as: UTF8.self))
        if rest.first == UInt8(ascii: " ") { rest.removeFirst() }
        if Self.hidden.contains(word) { group.isHidden = true }
        switch word {
        case "u": unicode(number ?? 0)
        case "uc": group.replacementCount = Int(min(max(number ?? 1, 0), 16))
        case "bin": rest = rest.dropFirst(Int(max(number ?? 0, 0)))
        default: if let scalar = Self.symbols[word] { append(scalar) }
        }
    }

    private mutating func symbol(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "*"): group.isHidden = true
        case UInt8(ascii: "~"): append("\u{A0}")
        case UInt8(ascii: "\r"), UInt8(ascii: "\n"): append("\n")
        case UInt8(ascii: "'"):
            let digits = rest.prefix(2)
            rest = rest.dropFirst(2)
            if let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 16) { append(code) }
        case UInt8(ascii: "\\"), UInt8(ascii: "{"), UInt8(ascii: "}"): append(byte)
        default: break
        }
    }

    private mutating func unicode(_ number: Int32) {
        skipping = group.replacementCount
        guard !group.isHidden else { return }
        let unit = UInt16(truncatingIfNeeded: number)
        if UTF16.isLeadSurrogate(unit) {
            pendingHighSurrogate = unit
            return
        }
        let units = [pendingHighSurrogate, unit].compactMap { $0 }
        pendingHighSurrogate = nil
        scalars.append(contentsOf: String(decoding: units, as: UTF16.self).unicodeScalars)
    }

    private mutating func append(_ byte: UInt8) {
        guard skipping == 0 else {
            skipping -= 1
            return
        }
        let text = byte < 0x80 ? nil : String(data: Data([byte]), encoding: .windowsCP1252)
        append(text?.unicodeScalars.first ?? Unicode.Scalar(byte))
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
        if !group.isHidden { scalars.append(scalar) }
    }

    private mutating func take(_ limit: Int, while isWanted: (UInt8) -> Bool) -> Data {
        let taken = rest.prefix(limit).prefix(while: isWanted)
        rest = rest.dropFirst(taken.count)
        return taken
    }

}
