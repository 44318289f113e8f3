/// How a query is understood. The names are those of Maccy's setting.
enum SearchMode: String, CaseIterable, Sendable {
    /// A part of the title, whatever its case.
    case exact
    /// Characters of the query in order, with errors, near the beginning of the title (see `FuzzyPattern`).
    case fuzzy
    /// A regular expression (PCRE2's), in which case counts.
    case regexp
    /// Exact; if that finds nothing, as a regular expression; if that finds nothing, fuzzy.
    case mixed
}

struct SearchHit: Hashable, Sendable {
    /// The position of the title in the list.
    let index: Int
    /// From 0 for equal texts to 1 for different ones; nil unless the search is fuzzy.
    let score: Double?
    /// Which characters of the title match, by their offsets. A range may be empty.
    let ranges: [Range<Int>]

    init(index: Int, score: Double? = nil, ranges: [Range<Int>] = []) {
        (self.index, self.score, self.ranges) = (index, score, ranges)
    }

    static let highlightLimit = 500

    /// What of the ranges is highlighted: not empty, and in the first 500 characters.
    var highlights: [Range<Int>] { ranges.map { $0.clamped(to: 0..<Self.highlightLimit) }.filter { !$0.isEmpty } }
}

struct SearchResults: Hashable, Sendable {
    var hits: [SearchHit] = []
    /// Whether a regular expression took too long, so that titles are missing.
    var isCutShort = false
    /// Why the query is no regular expression, in a search for one alone.
    var invalidPattern: String?
}

/// How matching characters are shown.
enum HighlightStyle: String, CaseIterable, Sendable {
    case bold, color, italic, underline
}
