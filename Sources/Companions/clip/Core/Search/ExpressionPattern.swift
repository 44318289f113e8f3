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

/// The longest text without which a regular expression matches nothing, to pass over most texts without running it.
/// Found only where that is certain: outside groups and sets, not repeated, in a pattern without alternatives and
/// options.
struct RequiredLiteral {
    private(set) var bytes: [UInt8] = []
    /// Whether the text is all there is to the expression.
    private(set) var isWholePattern = false

    private var run: [Unicode.Scalar] = []
    private var plainCount = 0

    init(of pattern: String) {
        let scalars = Array(pattern.unicodeScalars)
        guard read(scalars) else {
            bytes = []
            return
        }
        endRun()
        isWholePattern = !bytes.isEmpty && plainCount == scalars.count
    }

    /// False if nothing is certain.
    private mutating func read(_ scalars: [Unicode.Scalar]) -> Bool {
        var index = 0
        var depth = 0
        var setDepth = 0
        while index < scalars.count {
            let scalar = scalars[index]
            let next = index + 1 < scalars.count ? scalars[index + 1] : nil
            index += 1
            if scalar == "\\" {
                guard let next, next != "Q", next != "E" else { return false }
                index += 1
                if depth > 0 || setDepth > 0 { continue }
                // What a letter or digit after a backslash means is not looked up.
                if next.isASCII, !next.properties.isAlphabetic, next.properties.numericType == nil {
                    run.append(next)
                } else {
                    guard next.properties.numericType == nil,
                        !["x", "u", "U", "N", "p", "P", "c", "k", "g", "o"].contains(next)
                    else { return false }
                    endRun()
                }
                continue
            }
            switch scalar {
            case "[": setDepth += 1
            case "]": setDepth -= 1
            case _ where setDepth > 0: continue
            case "(":
                // A verb can end a match before the rest.
                if next == "*" { return false }
                if next == "?", !Self.opensPlainGroup(scalars[(index + 1)...]) { return false }
                depth += 1
            case ")": depth -= 1
            case _ where depth > 0: continue
            case "|": return false
            case "*", "+", "?", "{":
                _ = run.popLast()
                if scalar == "{" {
                    guard let end = scalars[index...].firstIndex(of: "}") else { return false }
                    index = end + 1
                }
            case ".", "^", "$", "}": break
            default:
                run.append(scalar)
                plainCount += 1
                continue
            }
            guard depth >= 0, setDepth >= 0 else { return false }
            endRun()
        }
        return depth == 0 && setDepth == 0
    }

    /// Whether what follows `(?` leaves the options alone, which could ignore case or white space.
    private static func opensPlainGroup(_ rest: ArraySlice<Unicode.Scalar>) -> Bool {
        rest.first.map { [":", "=", "!", "<", ">"].contains($0) } ?? false
    }

    private mutating func endRun() {
        let text = run.flatMap { Array(String($0).utf8) }
        if text.count > bytes.count { bytes = text }
        run = []
    }

    /// The first place of the text in another, in bytes of UTF-8.
    func firstRange(in text: String) -> Range<Int>? {
        var text = text
        return text.withUTF8 { utf8 in
            guard let first = bytes.first, bytes.count <= utf8.count else { return nil }
            for start in 0...(utf8.count - bytes.count) where utf8[start] == first {
                guard bytes.indices.allSatisfy({ utf8[start + $0] == bytes[$0] }) else { continue }
                return start..<start + bytes.count
            }
            return nil
        }
    }
}
