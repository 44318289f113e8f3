package import Essentials

/// The lines in which two texts differ, from the first to the last.
package struct TextDifference: Sendable, Equatable {
    /// The number of the first line that differs, from 1.
    package private(set) var line: Int
    package private(set) var removed: [String]
    package private(set) var added: [String]

    /// Longer lines are shortened to the part that differs.
    private static let lineLimit = 160

    /// Nil when the texts are equal; a missing text has no lines.
    package init?(from old: Data?, to new: Data?) {
        guard old != new else { return nil }
        let (old, new) = (Self.lines(old), Self.lines(new))
        let start = zip(old, new).prefix { $0 == $1 }.count
        let end = zip(old.dropFirst(start).reversed(), new.dropFirst(start).reversed()).prefix { $0 == $1 }.count
        line = start + 1
        removed = old[start..<(old.count - end)].map { String(decoding: $0, as: UTF8.self) }
        added = new[start..<(new.count - end)].map { String(decoding: $0, as: UTF8.self) }
        if let old = removed.first, let new = added.first, removed.count == 1, added.count == 1 {
            (removed, added) = Self.shortened(old, new)
        }
        removed = removed.map(Self.cut)
        added = added.map(Self.cut)
    }

    private static func lines(_ text: Data?) -> [Data.SubSequence] {
        guard let text, !text.isEmpty else { return [] }
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return lines.last?.isEmpty == true ? lines.dropLast() : lines
    }

    private static func shortened(_ old: String, _ new: String) -> ([String], [String]) {
        guard max(old.utf8.count, new.utf8.count) > lineLimit else { return ([old], [new]) }
        let start = zip(old, new).prefix { $0 == $1 }.count
        let (old, new) = (old.dropFirst(start), new.dropFirst(start))
        let end = zip(old.reversed(), new.reversed()).prefix { $0 == $1 }.count
        return (["…" + old.dropLast(end) + "…"], ["…" + new.dropLast(end) + "…"])
    }

    private static func cut(_ line: String) -> String {
        let line = line.hasSuffix("\r") ? String(line.dropLast()) : line
        return line.count > 2 * lineLimit ? line.prefix(2 * lineLimit) + "…" : line
    }
}
