extension StringProtocol {
    /// The longest beginning of whole characters with at most so many bytes.
    func prefix(utf8Bytes limit: Int) -> String {
        guard utf8.count > limit else { return String(self) }
        var end = startIndex
        var bytes = 0
        while end < endIndex {
            let next = index(after: end)
            bytes += self[end..<next].utf8.count
            guard bytes <= limit else { break }
            end = next
        }
        return String(self[..<end])
    }

    /// The first so many characters, cut without counting all of a long text.
    func shortened(to limit: Int) -> String {
        guard limit > 0 else { return "" }
        guard utf8.count > limit else { return String(self) }
        // The common case, several times as fast: up to there, each scalar is a character.
        let scalars = unicodeScalars
        var end = scalars.startIndex
        for count in 0...limit {
            guard end < scalars.endIndex else { return String(self) }
            guard scalars[end].isCharacter else { break }
            if count == limit { return String(self[..<end]) }
            scalars.formIndex(after: &end)
        }
        return String(prefix(limit))
    }
}

extension Unicode.Scalar {
    /// Whether it is a character of its own wherever it stands among such: ASCII but for a carriage return, Latin-1,
    /// Russian, punctuation, kana, ideographs and Hangul. None of them has another canonical form.
    var isCharacter: Bool {
        switch value {
        case 0x0D: false
        case 0..<0x0100, 0x0410..<0x0450, 0x2010..<0x2028, 0x21E5, 0x23CE: true
        case 0x3041..<0x3097, 0x30A1..<0x30FB, 0x4E00..<0xA000, 0xAC00..<0xD7A4: true
        default: false
        }
    }
}
