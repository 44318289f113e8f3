public import KVStoreCore

extension StoreKey: ExpressibleByStringInterpolation {}

extension StoreKey {
    /// Too long for any limit.
    package static let long = StoreKey(String(repeating: "k", count: 70_000))
}

extension StoreKey {
    /// Two keys of different bytes whose texts Swift calls equal: one composed, one decomposed.
    package static func canonicalEquivalents(using random: inout some RandomNumberGenerator) -> (StoreKey, StoreKey) {
        // Each composes from a letter and marks; a Hangul syllable from its letters.
        let pairs = [
            ("\u{e9}", "e\u{301}"), ("\u{c5}", "A\u{30a}"), ("\u{1e69}", "s\u{323}\u{307}"),
            ("\u{ac01}", "\u{1100}\u{1161}\u{11a8}"), ("\u{3a9}", "\u{2126}"),
        ]
        var (left, right) = ("", "")
        for position in 0..<Int.random(in: 1...6, using: &random) {
            if position > 0, Bool.random(using: &random) {
                let letter = ["a", " ", "ß", "日", "\u{1F600}"].randomElement(using: &random)!
                (left, right) = (left + letter, right + letter)
            } else {
                let pair = pairs.randomElement(using: &random)!
                let isSwapped = Bool.random(using: &random)
                left += isSwapped ? pair.1 : pair.0
                right += isSwapped ? pair.0 : pair.1
            }
        }
        return (StoreKey(left), StoreKey(right))
    }
}
