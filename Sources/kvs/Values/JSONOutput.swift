import CommandSupport
import Foundation

/// Documents for other programs, one way of writing for all commands.
enum JSONOutput {
    /// UTF-8 with sorted keys and a line feed at the end.
    static func data(_ document: some Encodable, isIndented: Bool = false) throws(CommandFailure)
        -> Data
    {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if isIndented { encoder.outputFormatting.insert(.prettyPrinted) }
        do {
            return try encoder.encode(document) + Data("\n".utf8)
        } catch {
            throw CommandFailure(.dataError, "cannot be written as JSON: \(error)")
        }
    }
}
