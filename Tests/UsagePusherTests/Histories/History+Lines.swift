import Foundation

extension History {
    /// Appends lines as an editor, a synchronizing program, a full disk and a crash leave them. None of it changes what
    /// the lines say.
    ///
    /// - Parameter isNew: whether the file begins with them.
    mutating func append(lines: [JSON], to path: String, isNew: Bool = true) {
        let end = chance(12) ? "\r\n" : "\n"
        var text = isNew && chance(12) ? "\u{FEFF}" : ""
        let hasFaults = chance(2)
        for line in lines.map(\.json) {
            if hasFaults, chance(8) {
                // A crash, after which the line was written again.
                text += line.prefix(below(line.count)) + end
            }
            if hasFaults, chance(20) { text += noise(pick([10, 10, 300_000])) + end }
            if hasFaults, chance(20) { text += end }
            text += line + end
        }
        // A power cut leaves blocks of zeros.
        if chance(12) { text += String(repeating: "\0", count: 1 + below(600)) }
        append(text, to: path)
    }

    private static let filling = String(repeating: "x", count: 300_000)

    /// A line of something else that quotes what is counted.
    private mutating func noise(_ count: Int) -> String {
        let quoted = #"\"usage\":{\"input_tokens\":5,\"output_tokens\":5}"#
        return #"{"type":"other","text":"\#(quoted)\#(Self.filling.prefix(count))"}"#
    }
}
