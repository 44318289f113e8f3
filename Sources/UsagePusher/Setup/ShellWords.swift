/// The words of a shell command that contains no expansion up to the word read.
struct ShellWords {
    struct Word: Equatable {
        /// Without quotation marks.
        var text: String
        var written: WrittenString
    }

    private var units: ArraySlice<WrittenString.Unit>

    init(_ command: WrittenString) { units = command.units }

    /// What follows the words read so far, without leading spaces.
    var rest: WrittenString { WrittenString(units: units.drop { $0.ascii == UInt8(ascii: " ") }) }

    mutating func next() -> Word? {
        units = rest.units
        guard let start = units.first.map({ _ in units.startIndex }) else { return nil }
        var text: [UInt8] = []
        var quote: UInt8?
        let all = units
        while let unit = units.first {
            if quote == nil, unit.ascii == UInt8(ascii: " ") { break }
            units = units.dropFirst()
            switch unit.ascii {
            case UInt8(ascii: "'") where quote != UInt8(ascii: "\""),
                UInt8(ascii: "\"") where quote != UInt8(ascii: "'"):
                quote = quote == nil ? unit.ascii : nil
            case UInt8(ascii: "\\") where quote != UInt8(ascii: "'"):
                text += units.first?.ascii.map { [$0] } ?? []
                units = units.dropFirst()
            default: text += unit.ascii.map { [$0] } ?? Array(unit.written)
            }
        }
        return Word(
            text: String(decoding: text, as: UTF8.self),
            written: WrittenString(units: all[start..<units.startIndex]))
    }

    /// The text as one word of a shell command.
    static func quote(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "/._-+,:@%".utf8.contains(byte)
            }
        }
        if isPlain, !text.isEmpty { return text }
        return "'"
            + text.split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: #"'\''"#) + "'"
    }
}
