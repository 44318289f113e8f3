/// The titles of a list, prepared so that each keystroke searches them all in a few milliseconds.
///
/// Characters become numbers: two are equal where Swift's are after lowercasing.
struct SearchIndex: Sendable {
    let titles: [String]
    let texts: [[UInt32]]
    private var clusters: [String: UInt32] = [:]

    /// Beyond this, no character of a title is looked at but by a regular expression.
    static let characterLimit = 5_001

    init(_ titles: [String]) {
        self.titles = titles
        var clusters: [String: UInt32] = [:]
        texts = titles.map { title in
            Self.numbers(in: title.shortened(to: Self.characterLimit)) { character in
                if let number = clusters[character] { return number }
                let number = CanonicalForms.number(of: character) ?? Self.firstCluster + UInt32(clusters.count)
                clusters[character] = number
                return number
            }
        }
        self.clusters = clusters
    }

    /// Characters of the query that no title has are equal to none.
    func numbers(in query: String) -> [UInt32] {
        Self.numbers(in: query) { clusters[$0] ?? CanonicalForms.number(of: $0) ?? .max }
    }

    /// Characters that are no scalar with `isCharacter` have numbers above those of scalars.
    private static let firstCluster: UInt32 = 0x110000

    private static func numbers(in text: String, _ cluster: (String) -> UInt32) -> [UInt32] {
        var numbers: [UInt32] = []
        numbers.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            guard let number = simpleNumber(scalar) else { break }
            numbers.append(number)
        }
        if numbers.count == text.unicodeScalars.count { return numbers }
        return text.lowercased().map { character in
            let scalars = character.unicodeScalars
            if let only = scalars.first, scalars.count == 1, only.isCharacter { return only.value }
            return cluster(String(character))
        }
    }

    /// The lowercase of a scalar that is a character of its own; nil for others.
    private static func simpleNumber(_ scalar: Unicode.Scalar) -> UInt32? {
        guard scalar.isCharacter else { return nil }
        return switch scalar.value {
        case 0xD7: scalar.value
        case 0x41...0x5A, 0xC0...0xDE, 0x0410...0x042F: scalar.value + 32
        default: scalar.value
        }
    }
}

/// The scalars with `isCharacter` by all their canonical forms, which are equal as strings.
private enum CanonicalForms {
    private static let usual = forms(0..<0x3100)
    private static let ideographsAndHangul = forms(0x4E00..<0xD7A4)

    static func number(of character: String) -> UInt32? {
        if let number = usual[character] { return number }
        switch character.unicodeScalars.first.map(\.value) ?? 0 {
        // Parts of Hangul syllables, and ideographs that are there twice.
        case 0x1100..<0x1200, 0xAC00..<0xD7A4, 0xF900..<0xFB00, 0x2F800..<0x2FA20:
            return ideographsAndHangul[character]
        default: return nil
        }
    }

    private static func forms(_ range: Range<UInt32>) -> [String: UInt32] {
        range.reduce(into: [:]) { forms, value in
            guard let scalar = Unicode.Scalar(value), scalar.isCharacter else { return }
            forms[String(scalar)] = value
        }
    }
}

// MARK: - Searching

extension SearchIndex {
    /// Finds titles. An empty query finds all, in their order.
    ///
    /// - Parameter timer: limits the time of regular expressions, for all titles together.
    func search(_ query: String, mode: SearchMode = .exact, timer: MatchTimer) -> SearchResults {
        guard !query.isEmpty else { return SearchResults(hits: titles.indices.map { SearchHit(index: $0) }) }
        switch mode {
        case .exact: return SearchResults(hits: exact(query))
        case .fuzzy: return SearchResults(hits: fuzzy(query))
        case .regexp: return regexp(query, timer)
        case .mixed:
            let exact = exact(query)
            guard exact.isEmpty else { return SearchResults(hits: exact) }
            var results = regexp(query, timer)
            guard results.hits.isEmpty else { return results }
            results.invalidPattern = nil
            results.hits = fuzzy(query)
            return results
        }
    }

    private func exact(_ query: String) -> [SearchHit] {
        let pattern = numbers(in: query)
        return texts.indices.compactMap { index in
            texts[index].firstRange(ofNumbers: pattern, from: 0).map { SearchHit(index: index, ranges: [$0]) }
        }
    }

    private func fuzzy(_ query: String) -> [SearchHit] {
        let pattern = FuzzyPattern(numbers(in: query))
        return texts.indices.compactMap { index in
            pattern.match(texts[index]).map { SearchHit(index: index, score: $0.score, ranges: $0.ranges) }
        }
        .sorted { ($0.score ?? 0, $0.index) < ($1.score ?? 0, $1.index) }
    }

    private func regexp(_ query: String, _ timer: MatchTimer) -> SearchResults {
        var results = SearchResults()
        do throws(InvalidPattern) {
            let expression = try GuardedExpression(query)
            let deadline = timer.deadline()
            for (index, title) in titles.enumerated() {
                switch expression.firstMatch(in: title, deadline) {
                case .none: continue
                case .match(let range):
                    results.hits.append(SearchHit(index: index, ranges: [title.characterOffsets(range)]))
                case .undecided: results.isCutShort = true
                }
                if deadline.hasPassed { break }
            }
        } catch {
            results.invalidPattern = error.reason
        }
        return results
    }
}

extension String {
    /// The characters of which a range of bytes has any part.
    fileprivate func characterOffsets(_ range: Range<Int>) -> Range<Int> {
        var start: Int?
        var end = 0
        var bytes = 0
        for (offset, character) in self.enumerated() {
            guard bytes < range.upperBound else { break }
            bytes += character.utf8.count
            if bytes > range.lowerBound { start = start ?? offset }
            end = offset + 1
        }
        guard !range.isEmpty else {
            let offset = range.lowerBound == 0 ? 0 : end
            return offset..<offset
        }
        return (start ?? end)..<end
    }
}

extension [UInt32] {
    /// The first place at or after an offset where a pattern that is not empty begins.
    func firstRange(ofNumbers pattern: [UInt32], from offset: Int) -> Range<Int>? {
        guard let first = pattern.first, offset <= count - pattern.count else { return nil }
        return withUnsafeBufferPointer { text in
            for start in offset...(text.count - pattern.count) where text[start] == first {
                if pattern.indices.allSatisfy({ text[start + $0] == pattern[$0] }) {
                    return start..<(start + pattern.count)
                }
            }
            return nil
        }
    }
}

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
    var score: Double?
    /// Which characters of the title match, by their offsets. A range may be empty.
    var ranges: [Range<Int>] = []

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
