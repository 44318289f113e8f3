/// The number of terminal cells that text occupies, independent of the locale.
///
/// East Asian wide and fullwidth characters and emoji with emoji presentation take 2 cells, combining marks and
/// Hangul medials and finals 0, a flag (two regional indicators) 2, everything else 1. A character of several
/// scalars is as wide as its widest one. For text that has passed `VisibleText.escape`.
package enum CellWidth {
    package static func of(_ text: some StringProtocol) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.reduce(0) { $0 + of($1) }
    }

    package static func of(_ character: Character) -> Int {
        if character.isASCII { return 1 }
        let scalars = character.unicodeScalars
        if scalars.count > 1, scalars.prefix(2).allSatisfy(isRegionalIndicator) { return 2 }
        return scalars.reduce(0) { max($0, of($1)) }
    }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return 1 }
        if scalar.isMark || (0x1160...0x11FF).contains(scalar.value) { return 0 }
        if scalar.properties.isEmojiPresentation { return isRegionalIndicator(scalar) ? 1 : 2 }
        return wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    private static func isRegionalIndicator(_ scalar: Unicode.Scalar) -> Bool {
        (0x1F1E6...0x1F1FF).contains(scalar.value)
    }

    /// Blocks of wide and fullwidth characters (Unicode Standard Annex 11, classes W and F).
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F,  // Hangul Jamo initials
        0x2E80...0x303E,  // CJK radicals, punctuation
        0x3041...0x33FF,  // Kana, Bopomofo, CJK compatibility
        0x3400...0x4DBF,  // CJK extension A
        0x4E00...0x9FFF,  // CJK ideographs
        0xA000...0xA4CF,  // Yi
        0xA960...0xA97F,  // Hangul Jamo extended A
        0xAC00...0xD7A3,  // Hangul syllables
        0xF900...0xFAFF,  // CJK compatibility ideographs
        0xFE10...0xFE19, 0xFE30...0xFE6F,  // vertical and small forms
        0xFF01...0xFF60, 0xFFE0...0xFFE6,  // fullwidth forms
        0x16FE0...0x18CFF, 0x1AFF0...0x1B2FB,  // Tangut, Kana supplements
        0x1F200...0x1F265, 0x1F300...0x1F320, 0x1F900...0x1F9FF,  // enclosed, pictographs
        0x20000...0x3FFFD,  // CJK extensions B and later
    ]
}

extension Unicode.Scalar {
    /// Whether it is drawn on the character before it.
    var isMark: Bool {
        let category = properties.generalCategory
        return category == .nonspacingMark || category == .enclosingMark
    }
}
