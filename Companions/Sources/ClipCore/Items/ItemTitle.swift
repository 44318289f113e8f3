import Foundation

/// The line that stands for an item in a list, and what search looks at.
package enum ItemTitle {
    /// In characters.
    package static let lengthLimit = 1_000
    package static let previewLengthLimit = 10_000
    /// Of HTML and RTF, only so many bytes are looked at.
    static let markupByteLimit = 256 * 1_024

    /// The title of an item: empty for an image; else files, text, RTF or HTML, whichever comes first with any characters;
    /// else the title that the item carries. Cut to 1,000 characters first.
    ///
    /// - Parameter symbols: whether spaces at both ends are shown as ·, line ends as ⏎ and tabs as ⇥, instead of removing
    ///   white space at both ends.
    package static func title(of item: ClipItem, symbols: Bool = true) -> String {
        let contents = item.contents
        guard contents?.hasImage != true else { return "" }
        let derived = contents.map { text(of: $0, limit: lengthLimit) } ?? ""
        let title = derived.isEmpty ? item.origin.title ?? "" : derived
        return symbols
            ? showingSymbols(title) : title.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The text of an item for a preview: its first 10,000 characters.
    package static func preview(of item: ClipItem) -> String {
        let derived = item.contents.map { text(of: $0, limit: previewLengthLimit) } ?? ""
        return derived.isEmpty ? item.origin.title ?? "" : derived
    }

    /// The text that contents have or contain, at most `limit` characters.
    package static func text(of contents: ClipContents, limit: Int) -> String {
        let sources: [() -> String?] = [
            { files(in: contents).joined(separator: "\n") },
            { contents[.text].map { text($0, limit) } },
            { contents[.rtf].map { RTFText.text(of: $0, limit: limit) } },
            { contents[.html].map { HTMLText.text(of: $0, limit: limit) } },
        ]
        return sources.lazy.compactMap { $0() }.first { !$0.isEmpty }?.shortened(to: limit) ?? ""
    }

    /// The first characters of plain text, without decoding all of a long one.
    private static func text(_ data: Data, _ limit: Int) -> String {
        let (bytes, overflow) = limit.multipliedReportingOverflow(by: 64)
        return String(decoding: overflow ? data : data.prefix(bytes), as: UTF8.self)
            .shortened(to: limit)
    }

    /// The URLs of files, percent-decoded.
    package static func files(in contents: ClipContents) -> [String] {
        let list = contents[.files] ?? contents[.gnomeFiles] ?? Data()
        return String(decoding: list.prefix(markupByteLimit), as: UTF8.self)
            .split(whereSeparator: \.isNewline)
            .filter { !$0.hasPrefix("#") && $0.contains(":") }
            .map { $0.removingPercentEncoding ?? String($0) }
    }

    static func showingSymbols(_ title: String) -> String {
        let leading = title.prefix { $0 == " " }.count
        let trailing = title.dropFirst(leading).reversed().prefix { $0 == " " }.count
        let dots = { String(repeating: "·", count: $0) }
        let inner = title.dropFirst(leading).dropLast(trailing)
            .map { (character: Character) -> Character in
                switch character {
                case "\n", "\r\n", "\r": "⏎"
                case "\t": "⇥"
                default: character
                }
            }
        return dots(leading) + String(inner) + dots(trailing)
    }
}
