/// The pattern of a regular expression for PCRE2. Escapes of ICU, whose syntax it was before, are translated; what
/// would silently mean something else is refused.
struct ExpressionPattern {
    private(set) var text = ""

    init(_ pattern: String) throws(InvalidPattern) {
        var rest = Substring(pattern).unicodeScalars
        var isInSet = false
        while let scalar = rest.popFirst() {
            text.unicodeScalars.append(scalar)
            if scalar == "\\" {
                try takeEscape(&rest)
            } else if !isInSet {
                guard scalar == "[" else { continue }
                isInSet = true
                // A bracket that comes first is a member.
                if rest.first == "^" { text.unicodeScalars.append(rest.removeFirst()) }
                if rest.first == "]" { text.unicodeScalars.append(rest.removeFirst()) }
            } else if scalar == "]" {
                isInSet = false
            } else if scalar == "[", rest.first == ":", let end = rest.firstIndex(of: "]") {
                text.unicodeScalars.append(contentsOf: rest[...end])
                rest = rest[rest.index(after: end)...]
            } else if scalar == "[" || "&-".unicodeScalars.contains(scalar) && rest.first == scalar {
                throw InvalidPattern(
                    pattern: pattern, reason: "a set within a set, or && or --; write \\[, \\& or \\- for the character"
                )
            }
        }
    }

    /// What follows a backslash.
    private mutating func takeEscape(_ rest: inout Substring.UnicodeScalarView) throws(InvalidPattern) {
        guard let kind = rest.popFirst() else { return }
        switch kind {
        case "u", "U":
            let digits = rest.prefix(kind == "u" ? 4 : 8)
            guard digits.count == (kind == "u" ? 4 : 8), digits.allSatisfy(\.properties.isASCIIHexDigit) else { break }
            rest = rest.dropFirst(digits.count)
            text += "x{" + String(digits) + "}"
            return
        case "Q":
            let quoted = Substring(rest).firstRange(of: "\\E").map { rest[..<$0.upperBound] } ?? rest[...]
            rest = rest[quoted.endIndex...]
            text += "Q" + String(quoted)
            return
        case "0":
            let digits = rest.prefix(3).prefix { ("0"..."7").contains($0) }
            rest = rest.dropFirst(digits.count)
            text += "o{0" + String(digits) + "}"
            return
        default: break
        }
        text.unicodeScalars.append(kind)
    }
}
