@testable import clip
import Foundation
import Synchronization
import Testing

/// Queries and results of Maccy's tests of search, with the scores of Fuse 1.4.0.
@Suite("Searching titles")
struct SearchTests {
    private let items = SearchIndex(["foo bar baz", "foo bar zaz", "xxx yyy zzz"])

    private func hit(_ index: Int, _ ranges: ClosedRange<Int>..., score: Double? = nil) -> SearchHit {
        SearchHit(index: index, score: score, ranges: ranges.map { Range($0) })
    }

    private func hits(_ query: String, _ mode: SearchMode) -> [SearchHit] {
        items.search(query, mode: mode, timer: .frozen).hits
    }

    @Test("an empty query finds every title in order, without scores or ranges", arguments: SearchMode.allCases)
    func emptyQuery(mode: SearchMode) {
        #expect(hits("", mode) == [hit(0), hit(1), hit(2)])
    }

    @Test("exact search finds the first place of a part of a title")
    func testSimpleSearch() {
        #expect(hits("z", .exact) == [hit(0, 10...10), hit(1, 8...8), hit(2, 8...8)])
        #expect(hits("foo", .exact) == [hit(0, 0...2), hit(1, 0...2)])
        #expect(hits("za", .exact) == [hit(1, 8...9)])
        #expect(hits("yyy", .exact) == [hit(2, 4...6)])
        #expect(hits("FOO B", .exact) == [hit(0, 0...4), hit(1, 0...4)])
        #expect(hits("fbb", .exact).isEmpty)
        #expect(hits("m", .exact).isEmpty)
    }

    @Test("fuzzy search gives the order, scores and ranges of Fuse")
    func testFuzzySearch() {
        #expect(
            hits("z", .fuzzy) == [
                hit(1, 8...8, 10...10, score: 0.08), hit(2, 8...10, score: 0.08), hit(0, 10...10, score: 0.1),
            ])
        #expect(hits("foo", .fuzzy) == [hit(0, 0...2, score: 0), hit(1, 0...2, score: 0)])
        #expect(
            hits("za", .fuzzy) == [
                hit(1, 5...5, 8...9, score: 0.08), hit(0, 5...5, 9...10, score: 0.54), hit(2, 8...10, score: 0.58),
            ])
        #expect(hits("yyy", .fuzzy) == [hit(2, 4...6, score: 0.04)])
        #expect(
            hits("fbb", .fuzzy) == [hit(0, 0...0, 4...4, 8...8, score: 2.0 / 3), hit(1, 0...0, 4...4, score: 2.0 / 3)])
        #expect(hits("m", .fuzzy).isEmpty)
    }

    @Test(
        "fuzzy search has the limits of Fuse in place, length and case",
        arguments: [
            ("abc", String(repeating: "x", count: 69) + "abc", 0.69),
            ("abc", String(repeating: "x", count: 71) + "abc", nil),
            (String(repeating: "a", count: 33), String(repeating: "a", count: 40), 0),
            (String(repeating: "a", count: 64), String(repeating: "a", count: 70), 0),
            (String(repeating: "a", count: 65), String(repeating: "a", count: 70), nil),
            (String(repeating: "a", count: 80), String(repeating: "a", count: 80), 0),
            ("foo", "FOO", 0), ("FOO", "foo", 0), ("foo", "", nil),
        ] as [(String, String, Double?)])
    func fuzzyLimits(query: String, title: String, score: Double?) {
        let hit = SearchIndex([title]).search(query, mode: .fuzzy, timer: .frozen).hits.first
        #expect(hit?.score == score)
    }

    @Test("a regular expression finds its first match, in which case counts")
    func testRegexpSearch() {
        #expect(hits("z+", .regexp) == [hit(0, 10...10), hit(1, 8...8), hit(2, 8...10)])
        let empty = (0..<3).map { SearchHit(index: $0, ranges: [0..<0]) }
        #expect(hits("z*", .regexp) == empty)
        #expect(hits("^foo", .regexp) == [hit(0, 0...2), hit(1, 0...2)])
        #expect(hits(" za", .regexp) == [hit(1, 7...9)])
        #expect(hits("[y]+", .regexp) == [hit(2, 4...6)])
        for query in ["fbb", "m", "FOO", "[", "(a+)+$"] {
            #expect(hits(query, .regexp).isEmpty, "\(query)")
        }
        #expect(items.search("[", mode: .regexp, timer: .frozen).invalidPattern != nil)
        #expect(items.search("[", mode: .mixed, timer: .frozen).invalidPattern == nil)
    }

    @Test("mixed search is exact, else by regular expression, else fuzzy")
    func mixed() {
        #expect(hits("za", .mixed) == hits("za", .exact))
        #expect(hits("^x+", .mixed) == hits("^x+", .regexp))
        #expect(hits("fbb", .mixed) == hits("fbb", .fuzzy))
        #expect(hits("m", .mixed).isEmpty)
    }

    @Test("a regular expression that takes too long is cut short, and that is reported")
    func timeGuard() {
        let titles = [String(repeating: "a", count: 40) + "b", "plain"]
        let slow = SearchIndex(titles)
        let results = slow.search("(a+)+$", mode: .regexp, timer: .passing(.milliseconds(1)))
        #expect(results.isCutShort && results.hits.isEmpty)
        let quick = slow.search("a+b", mode: .regexp, timer: .frozen)
        #expect(!quick.isCutShort && quick.hits == [hit(0, 0...40)])
    }

    @Test(
        "what would silently mean something else than for ICU is refused",
        arguments: ["a[^b-d&&[c]]?b", "[a[b]]", "[a-z--b]", "[[:alpha:][b]]", "[\\]&&a]"])
    func otherSets(pattern: String) {
        #expect(#expect(throws: InvalidPattern.self) { try GuardedExpression(pattern) }?.reason.contains("set") == true)
    }

    @Test("why a pattern is none is said in the words of the library")
    func reasons() {
        let error = #expect(throws: InvalidPattern.self) { try GuardedExpression("(a") }
        #expect(error?.reason == "missing closing parenthesis")
        #expect(throws: InvalidPattern.self) { try GuardedExpression("\\C") }
    }

    @Test("a verb that ends a match early is no reason to pass over a text, and a match may begin late")
    func verbs() {
        let index = SearchIndex(["xa", "ab"])
        func hits(_ pattern: String) -> [SearchHit] {
            index.search(pattern, mode: .regexp, timer: .frozen).hits
        }
        #expect(hits("a(*ACCEPT)b") == [hit(0, 1...1), hit(1, 0...0)])
        #expect(hits("a\\Kb") == [hit(1, 1...1)])
        #expect(hits("(a)\\g1?") == [hit(0, 1...1), hit(1, 0...0)])
    }

    @Test("one expression can be used by several threads")
    func threads() throws {
        let expression = try GuardedExpression("(a+)b")
        let texts = (0..<64).map { String(repeating: "a", count: $0 + 1) + "b" }
        let found = Mutex<[Int: CompiledExpression.Outcome]>([:])
        DispatchQueue.concurrentPerform(iterations: texts.count) { index in
            let outcome = expression.firstMatch(in: texts[index], MatchTimer.frozen.deadline())
            found.withLock { $0[index] = outcome }
        }
        for index in texts.indices { #expect(found.withLock { $0[index] } == .match(0..<index + 2)) }
    }

    @Test("without the library, plain texts are found, and an expression says which package it needs")
    func noLibrary() throws {
        #expect(ExpressionLibrary(fileNames: ["libnone.so.0"]) == nil)
        let plain = try GuardedExpression("secret", library: nil)
        #expect(plain.firstMatch(in: "é secret", MatchTimer.frozen.deadline()) == .match(3..<9))
        let error = #expect(throws: InvalidPattern.self) { try GuardedExpression("a+", library: nil) }
        #expect(error?.lacksLibrary == true && error?.reason.contains(ExpressionLibrary.packageName) == true)
    }

    @Test(
        "a character is found in each of its canonical forms",
        arguments: [
            ("\u{E9}", "e\u{301}"), ("\u{439}", "\u{438}\u{306}"), ("\u{304C}", "\u{304B}\u{3099}"),
            ("\u{D55C}", "\u{1112}\u{1161}\u{11AB}"), ("\u{8C48}", "\u{F900}"), (";", "\u{37E}"),
            ("\u{1E27}", "h\u{308}"), ("\u{C5}", "\u{212B}"), ("\u{1D2}", "o\u{30C}"),
        ])
    func canonicalForms(one: String, other: String) {
        #expect(one == other)
        for (title, query) in [(one, other), (other, one)] {
            #expect(SearchIndex(["a" + title]).search(query, timer: .frozen).hits == [hit(0, 1...1)])
        }
    }

    @Test("a pattern over the limit is refused")
    func longPattern() {
        let results = items.search(String(repeating: "(a", count: 1_000), mode: .regexp, timer: .frozen)
        #expect(results.hits.isEmpty && results.invalidPattern != nil)
    }

    @Test(
        "passing over titles without a text that the expression needs changes no result",
        arguments: [
            "b+c", "a?bc", "ab{0}c", "(x|b)c", "a|zz", "a(?:q)?b", "[b]c", "(?i)ABC", "a\\.c",
            "\\Qab\\E",
            "ab.", "\\x61", "[]a]b", "[[:alpha:]]c", "(ab)?zz", "^ab$", "a\\[b", "é", "a(?=b)bc",
            "a#b", "(?x) a b c", "(a)\\1", "日本", "(?<n>b)c", "\\u0061b", "a{2}", "\\bzz", "\\060", "a\\060",
            "\\U00000061b", "[\\u0061-b]c", "[^]a]b", "[\\[]b", "a[&-]b", "\\w{3}$", "\\p{Lu}", "(?i:B)C", "a\\z",
            "(?>a|ab)c", "a*+b", "(?<=a)b", "(?<!a)b", "\\Q.\\Ec", "[a-c]{2,}", "\\Rx", "..c", "\\X$", "\\S+\\s",
        ])
    func requiredLiteral(pattern: String) throws {
        let titles = [
            "abc", "ABC", "ac", "zz", "a.c", "ab", "a0", "aa", "a[b", "é", "e\u{301}", "a#b", "日本語",
            "",
            "xbc", "]b", "a b c",
        ]
        let found = SearchIndex(titles).search(pattern, mode: .regexp, timer: .frozen)
        let expected = try titles.indices.filter { try Self.matches(pattern, titles[$0]) }
        #expect(found.hits.map(\.index) == expected)
    }

    /// By ICU, whose expressions rules have been written for.
    private static func matches(_ pattern: String, _ text: String) throws -> Bool {
        let all = NSRange(location: 0, length: text.utf16.count)
        return try NSRegularExpression(pattern: pattern).firstMatch(in: text, range: all) != nil
    }

    @Test("characters of several scalars are found, and ranges count characters")
    func clusters() {
        let titles = SearchIndex(["👩‍👧 caf\u{E9} x", "cafe\u{301} 👩‍👧", "Straße", "a\r\nb"])
        let hits = { (query: String, mode: SearchMode) in
            titles.search(query, mode: mode, timer: .frozen).hits
        }
        #expect(hits("É", .exact) == [hit(0, 5...5), hit(1, 3...3)])
        #expect(hits("👩‍👧", .exact) == [hit(0, 0...0), hit(1, 5...5)])
        #expect(hits("caf.", .regexp).map(\.ranges) == [[2..<6], [0..<4]])
        #expect(hits("x$", .regexp) == [hit(0, 7...7)])
        #expect(hits("🦊", .exact).isEmpty && hits("🦊", .fuzzy).isEmpty)
    }

    @Test("highlights end at the 500th character and leave out empty matches")
    func testHighlight() {
        let hit = SearchHit(index: 0, ranges: [0..<0, 3..<5, 498..<510, 600..<700])
        #expect(hit.highlights == [3..<5, 498..<500])
    }

    @Test("the modes have the names and the order of Maccy's setting")
    func modes() {
        #expect(SearchMode.allCases.map(\.rawValue) == ["exact", "fuzzy", "regexp", "mixed"])
    }
}
