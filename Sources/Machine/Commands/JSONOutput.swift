package import Essentials
import TerminalText

/// JSON documents on standard output, read by other programs and by people: the form of every `--json`.
package enum JSONOutput {
    /// Sorted keys, slashes as they are, and a line feed at the end; one line, or indented. What a terminal would hide
    /// or obey is escaped, as `visible` does.
    ///
    /// - Parameter dates: by default ISO 8601 in UTC with whole seconds, which every reader of dates accepts.
    package static func data(
        _ document: some Encodable, isIndented: Bool = false, dates: JSONEncoder.DateEncodingStrategy = .iso8601
    ) throws(CommandFailure) -> Data {
        do {
            return try encoded(document, isIndented: isIndented, dates: dates)
        } catch {
            throw CommandFailure(.dataError, "cannot encode as JSON: \(error)")
        }
    }

    /// As `data`, for others than commands: throws what the encoder does.
    package static func encoded(
        _ document: some Encodable, isIndented: Bool = false,
        dates: JSONEncoder.DateEncodingStrategy = .iso8601
    ) throws -> Data {
        visible(try JSONEncoder.sorted(isIndented: isIndented, dates: dates).encode(document)) + Data("\n".utf8)
    }

    /// The same document with each character that is invisible or changes the reading direction written as `\u…`. JSON
    /// itself escapes control characters only up to U+001F.
    package static func visible(_ json: Data) -> Data {
        if json.allSatisfy({ $0 == 0x0A || (0x20...0x7E).contains($0) }) { return json }
        var result = ""
        for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
            // Outside of strings there is none but the line feeds of an indented document.
            if scalar != "\n", VisibleText.isHidden(scalar) {
                for unit in String(scalar).utf16 { result += "\\u" + unit.hexadecimal(digits: 4) }
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return Data(result.utf8)
    }
}

extension Console {
    /// Writes a document to standard output as `JSONOutput.data` describes.
    package static func printJSON(
        _ document: some Encodable, isIndented: Bool = false, dates: JSONEncoder.DateEncodingStrategy = .iso8601
    ) throws {
        try write(JSONOutput.data(document, isIndented: isIndented, dates: dates))
    }
}
