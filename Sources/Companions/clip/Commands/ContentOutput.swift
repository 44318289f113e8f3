import Commands
import Essentials
import TerminalText

/// Contents on standard output.
enum ContentOutput {
    /// Writes bytes as they are, but for a terminal, where text is escaped and anything else refused.
    static func write(_ data: Data, type: ContentType, isRaw: Bool) throws {
        guard Console.isOutputTerminal, !isRaw else { return try Console.write(data) }
        guard type.kind != .image else {
            throw CommandFailure(.usage, "\(type.rawValue) is not for a terminal; redirect the output, or add --raw")
        }
        let text = String(decoding: data, as: UTF8.self)
        for line in VisibleText.escapedLines(text, limit: .max) { try Console.print(line) }
    }
}
