/// How the members of a JSON object are laid out: each on a line of its own, or all on one line.
struct MemberLayout: Sendable, Equatable {
    /// A line feed, alone or after a carriage return; empty on one line.
    var lineBreak: String
    /// The indentation of the members; on one line the space between them.
    var space: String

    init(lineBreak: String, space: String) {
        self.lineBreak = lineBreak
        self.space = space
    }

    /// From what stands between the start of the object, or a comma, and a member.
    init(gap: some Sequence<UInt8>) {
        let gap = Array(gap)
        guard let feed = gap.lastIndex(of: UInt8(ascii: "\n")) else {
            self.init(lineBreak: "", space: String(decoding: gap, as: UTF8.self))
            return
        }
        let hasReturn = feed > 0 && gap[feed - 1] == UInt8(ascii: "\r")
        self.init(lineBreak: hasReturn ? "\r\n" : "\n", space: String(decoding: gap[(feed + 1)...], as: UTF8.self))
    }

    /// The member `"statusLine"` with a command, one level deep.
    func statusline(_ command: CaptureCommand) -> [UInt8] {
        let isOneLine = lineBreak.isEmpty
        let colon = isOneLine && space.isEmpty ? ":" : ": "
        let inner = isOneLine ? "" : lineBreak + space + space
        let end = isOneLine ? "" : lineBreak + space
        let separator = "," + (isOneLine ? space : inner)
        return Array("\"statusLine\"\(colon){\(inner)\"type\"\(colon)\"command\"\(separator)".utf8)
            + Array("\"command\"\(colon)\"".utf8) + command.written + Array("\"\(end)}".utf8)
    }
}
