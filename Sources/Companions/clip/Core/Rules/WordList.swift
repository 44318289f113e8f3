/// The words of recovery phrases, as those of a content key: twelve or more of one list, one after another.
struct WordList: Sendable {
    private let words: Set<UInt64>
    private static let phraseWordCount = 12
    /// The fewest in a phrase, which is drawn at random: a text with fewer repeats its words.
    private static let differentWordCount = 9

    /// - Parameter words: lowercase ASCII of at most eight letters; others are left out.
    init(_ words: some Sequence<String>) {
        self.words = Set(words.filter { $0.utf8.count <= 8 }.map { Self.number($0.utf8) })
    }

    private static func number(_ letters: some Sequence<UInt8>) -> UInt64 {
        letters.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// How many words of the list have followed each other. Numbers, punctuation and white space may be between them.
    struct Run {
        private let list: WordList
        private var word: UInt64 = 0
        private var letterCount = 0
        private var phrase: [UInt64] = []

        init(_ list: WordList) { self.list = list }

        /// Whether a phrase ends with this byte.
        mutating func isComplete(after byte: UInt8) -> Bool {
            if list.words.isEmpty { return false }
            if byte >= 0x80 || ByteSet.letters.contains(byte) {
                word = word << 8 | UInt64(byte | 0x20)
                letterCount += 1
                return false
            }
            guard letterCount > 0 else { return false }
            defer { (word, letterCount) = (0, 0) }
            guard letterCount <= 8, list.words.contains(word) else {
                phrase = []
                return false
            }
            phrase = phrase.suffix(WordList.phraseWordCount - 1) + [word]
            return phrase.count == WordList.phraseWordCount && Set(phrase).count >= WordList.differentWordCount
        }
    }
}
