import Essentials

/// The line that stands for an item in a list, and what search looks at.
enum ItemTitle {
    /// In characters.
    static let lengthLimit = 1_000
    static let previewLengthLimit = 10_000
    /// How much of HTML and RTF is looked at, unless all of the text is wanted.
    static let markupByteLimit = 256 * 1_024

    /// - Parameter limit: of the text, in characters; `.max` for all of it.
    static func markup(_ data: Data, forText limit: Int) -> Data { limit == .max ? data : data.prefix(markupByteLimit) }

    /// The title of an item: files, text, RTF or HTML, whichever comes first with any characters, also beside an image;
    /// else the title that the item carries; empty for an image alone. Cut to 1,000 characters first.
    ///
    /// - Parameter symbols: whether spaces at both ends are shown as ·, line ends as ⏎ and tabs as ⇥, instead of
    ///   removing white space at both ends.
    static func title(of item: ClipItem, symbols: Bool = true) -> String {
        let title = text(of: item, limit: lengthLimit)
        return symbols ? showingSymbols(title) : title.trimmed()
    }

    /// The text of an item for a preview: its first 10,000 characters.
    static func preview(of item: ClipItem) -> String { text(of: item, limit: previewLengthLimit) }

    private static func text(of item: ClipItem, limit: Int) -> String {
        let derived = item.contents.map { text(of: $0, limit: limit) } ?? ""
        return derived.isEmpty ? item.origin.title ?? "" : derived
    }

    /// The text that contents have or contain, at most `limit` characters.
    static func text(of contents: ClipContents, limit: Int) -> String {
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
        return String(decoding: overflow ? data : data.prefix(bytes), as: UTF8.self).shortened(to: limit)
    }

    /// The URLs of files, percent-decoded.
    static func files(in contents: ClipContents) -> [String] {
        let list = contents[.files] ?? contents[.gnomeFiles] ?? Data()
        return String(decoding: list.prefix(markupByteLimit), as: UTF8.self)
            .split(whereSeparator: \.isNewline)
            .filter { !$0.hasPrefix("#") && $0.contains(":") }
            .map { PercentEncoding.decode($0) ?? String($0) }
    }

    private static func showingSymbols(_ title: String) -> String {
        let bytes = Array(title.utf8)
        let space = UInt8(ascii: " ")
        let leading = bytes.prefix { $0 == space }.count
        let trailing = bytes.dropFirst(leading).reversed().prefix { $0 == space }.count
        var shown: [UInt8] = []
        shown.reserveCapacity(bytes.count + 64)
        for _ in 0..<leading { shown += "·".utf8 }
        for index in leading..<(bytes.count - trailing) {
            switch bytes[index] {
            case UInt8(ascii: "\n") where index > 0 && bytes[index - 1] == UInt8(ascii: "\r"): break
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): shown += "⏎".utf8
            case UInt8(ascii: "\t"): shown += "⇥".utf8
            default: shown.append(bytes[index])
            }
        }
        for _ in 0..<trailing { shown += "·".utf8 }
        return String(decoding: shown, as: UTF8.self)
    }
}
