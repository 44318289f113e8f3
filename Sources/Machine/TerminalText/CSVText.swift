/// Rows of comma-separated values.
package enum CSVText {
    /// One line without its end.
    package static func line(_ cells: [String]) -> String { cells.map(cell).joined(separator: ",") }

    /// As RFC 4180 quotes it. What a spreadsheet would take for a formula gets an apostrophe.
    package static func cell(_ text: String) -> String {
        let isFormula = text.unicodeScalars.first.map { "=+-@\t\r".unicodeScalars.contains($0) }
        let cell = VisibleText.escape((isFormula == true ? "'" : "") + text)
        // By scalars: a mark after a quote would make another character of it.
        let scalars = cell.unicodeScalars
        guard scalars.contains(where: { $0 == "," || $0 == "\"" }) else { return cell }
        var quoted = "\"".unicodeScalars
        for scalar in scalars {
            if scalar == "\"" { quoted.append(scalar) }
            quoted.append(scalar)
        }
        return String(quoted) + "\""
    }
}
