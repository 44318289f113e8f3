import CommandSupport
import Essentials
import KVStoreDocuments

/// JSON documents for other programs.
enum JSONOutput {
    /// JSON with sorted keys, dates as ISO 8601 text and a trailing newline.
    static func data(_ document: some Encodable, isIndented: Bool = false) throws(CommandFailure)
        -> Data
    {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if isIndented { encoder.outputFormatting.insert(.prettyPrinted) }
        encoder.dateEncodingStrategy = .custom { try DateFormat.text($0).encode(to: $1) }
        do {
            return try encoder.encode(document) + Data("\n".utf8)
        } catch {
            throw CommandFailure(.dataError, "cannot encode as JSON: \(error)")
        }
    }
}
