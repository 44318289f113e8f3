import CommandSupport
import Foundation

/// JSON documents for other programs.
enum JSONOutput {
    /// JSON with sorted keys and a trailing newline.
    static func data(_ document: some Encodable, isIndented: Bool = false) throws(CommandFailure)
        -> Data
    {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if isIndented { encoder.outputFormatting.insert(.prettyPrinted) }
        do {
            return try encoder.encode(document) + Data("\n".utf8)
        } catch {
            throw CommandFailure(.dataError, "cannot encode as JSON: \(error)")
        }
    }
}
