/// Text in XML, and in forms that take its entities: Pango, notifications, property lists.
package enum XMLText {
    /// Text for between tags or in a quoted attribute. By scalars: a sign with a combining mark is a sign, too.
    ///
    /// - Parameter text: has passed `VisibleText.escape`, so all its characters are allowed in XML.
    package static func escape(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
