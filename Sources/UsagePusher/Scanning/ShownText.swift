import Foundation

extension String {
    /// Text from another tool's file as it may be shown: one line, no control or invisible
    /// characters, at most `limit` characters. Nil when nothing is left.
    func shownText(limit: Int = 120) -> String? {
        let scalars = unicodeScalars.prefix(limit * 8).filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate,
                .unassigned:
                false
            default: true
            }
        }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        let shown = String(text).trimmingCharacters(in: .whitespaces).prefix(limit)
        return shown.isEmpty ? nil : String(shown)
    }
}
