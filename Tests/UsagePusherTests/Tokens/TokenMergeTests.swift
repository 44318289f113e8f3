import StoreTestSupport
import Testing

@testable import UsagePusher

@Suite("Which records are of one request, and what counts of them")
struct TokenMergeTests {
    /// A record as a few words: "id 7, prompt 100, output 5, session a, file 1, 10 s".
    private static func entry(
        id: UInt64 = 7, prompt: Int = 100, _ output: Int, variant: UInt32 = 0, own: Bool = false, session: UInt32 = 0,
        file: UInt32 = 0, at time: Int64 = 0, model: UInt16 = 0, is role: TokenRecord.Role = .main,
        standing: TokenRecord.Standing = .own, searches: Int = 0
    ) -> TokenEntry {
        TokenEntry(
            TokenRecord(
                time: time, counts: TokenCounts(input: prompt, output: output, webSearches: searches), id: id,
                identity: own ? .own : variant == 0 ? .foreign : .foreignWithRequest, variant: variant,
                role: role, standing: standing, ownCost: 0),
            file: file, session: session, model: model)!
    }

    /// Sessions 0 to 3; files 0 to 3 of threads 1 to 4, of which 2 continues 1, and 3 and 4 continue 2; file 4 of none,
    /// and file 5 of a thread whose origin has no file.
    private static let sessions = (0..<4).map { TokenSession(id: "s\($0)", source: "test") }
    private static let files = [(1, 0), (2, 1), (3, 2), (4, 2), (0, 0), (5, 9)].map {
        TokenLineage.Thread(id: $0.0, origin: $0.1)
    }

    private static func counted(_ entries: [TokenEntry]) -> [TokenEntry] {
        TokenMerge.counted(entries, sessions: sessions, files: files)
    }

    private struct Case: CustomTestStringConvertible {
        let testDescription: String
        let entries: [TokenEntry]
        /// "session: prompt + output", sorted.
        let counts: [String]

        init(_ sentence: String, _ entries: TokenEntry..., counts: String...) {
            testDescription = sentence
            self.entries = entries
            self.counts = counts
        }
    }

    private static let cases = [
        Case(
            "an answer that grows in one session is one", entry(5, file: 4), entry(9, file: 4, at: 3),
            entry(2, file: 4, at: 1), counts: "0: 100 + 9"),
        Case(
            "one id with other prompt counts is another answer", entry(5, file: 4),
            entry(prompt: 200, 5, file: 4, at: 3), counts: "0: 100 + 5", "0: 200 + 5"),
        Case(
            "a tool's own id is one request whatever its prompt", entry(5, own: true, file: 4),
            entry(prompt: 200, 5, own: true, session: 1, file: 0), counts: "1: 200 + 5"),
        Case(
            "one id in two sessions at two times is two answers", entry(5, file: 4),
            entry(5, session: 1, file: 4, at: 3), counts: "0: 100 + 5", "1: 100 + 5"),
        Case(
            "a copy in another session has the same time",
            entry(5, file: 4, at: 3), entry(5, session: 1, file: 4, at: 3), counts: "1: 100 + 5"),
        Case(
            "a copy under another time is told by the thread that its file continues, and counts there",
            entry(5, session: 1, file: 1, at: 1), entry(7, file: 0, at: 9), counts: "0: 100 + 7"),
        Case(
            "also through a thread in between",
            entry(5, session: 2, file: 2, at: 1), entry(5, file: 0, at: 9), counts: "0: 100 + 5"),
        Case(
            "two threads that continue one are two, with the same counts", entry(5, session: 2, file: 2, at: 1),
            entry(5, session: 3, file: 3, at: 2), counts: "2: 100 + 5", "3: 100 + 5"),
        Case(
            "a request id tells answers with one id and one prompt apart", entry(5, variant: 1, file: 4),
            entry(5, variant: 2, file: 4), counts: "0: 100 + 5", "0: 100 + 5"),
        Case(
            "both ids of an answer are its own for two minutes, in one session or with equal prompts",
            entry(5, variant: 1, file: 4), entry(prompt: 200, 9, variant: 1, file: 4, at: 9),
            entry(prompt: 200, 3, variant: 1, session: 1, file: 4, at: 20),
            entry(prompt: 300, 2, variant: 1, session: 2, file: 4, at: 30),
            entry(prompt: 400, 1, variant: 1, file: 4, at: 500_000), counts: "0: 200 + 9", "0: 400 + 1", "2: 300 + 2"),
        Case(
            "a side chain repeats the main chain whatever its request id, even with more output",
            entry(3, variant: 1, file: 4), entry(9, variant: 2, file: 4, is: .sidechain),
            entry(prompt: 50, 9, variant: 3, file: 4, is: .sidechain), counts: "0: 100 + 3"),
        Case(
            "but without one not another prompt, nor another session at another time", entry(3, file: 4),
            entry(prompt: 50, 9, file: 4, is: .sidechain), entry(9, session: 1, file: 4, at: 3, is: .sidechain),
            counts: "0: 100 + 3", "0: 50 + 9", "1: 100 + 9"),
        Case(
            "of side chains alone one counts",
            entry(3, variant: 1, file: 4, is: .sidechain),
            entry(9, variant: 2, file: 4, is: .sidechain), counts: "0: 100 + 9"),
        Case(
            "a placeholder for the prompt is no other prompt",
            entry(prompt: 0, 1, file: 4), entry(5, file: 4, at: 3), counts: "0: 100 + 5"),
        Case(
            "nor is a prompt that grew by what the provider searched",
            entry(2, variant: 1, file: 4),
            entry(prompt: 900, 5, variant: 1, file: 4, at: 3, searches: 1), counts: "0: 900 + 5"),
        Case(
            "an estimate counts neither where another line replaces it nor in copies",
            entry(prompt: 300, 1, file: 4), entry(prompt: 300, 1, file: 4, standing: .estimate),
            entry(5, file: 4, at: 3), entry(prompt: 300, 1, session: 1, file: 4),
            entry(prompt: 300, 0, session: 2, file: 1, at: 7), entry(prompt: 300, 1, session: 3, file: 4, at: 9),
            counts: "0: 100 + 5", "2: 300 + 0", "3: 300 + 1"),
        Case(
            "also if it is larger than what replaces it, of one request",
            entry(prompt: 300, 1, variant: 1, file: 0), entry(prompt: 300, 1, variant: 1, file: 0, standing: .estimate),
            entry(5, variant: 1, file: 0, at: 3), entry(prompt: 300, 1, variant: 1, session: 1, file: 1, at: 9),
            counts: "0: 100 + 5"),
        Case(
            "but what has grown beyond it does", entry(prompt: 300, 1, file: 4, standing: .estimate),
            entry(prompt: 300, 2, file: 4, at: 3), counts: "0: 300 + 2"),
        Case(
            "a probable copy counts nothing if its origin is gone", entry(5, file: 5, standing: .probableCopy),
            counts: ""),
        Case(
            "nor if its origin has it, but if that is there without it", entry(5, file: 0),
            entry(5, session: 1, file: 1, at: 4, standing: .probableCopy),
            entry(id: 8, 6, session: 1, file: 1, at: 4, standing: .probableCopy), counts: "0: 100 + 5", "1: 100 + 6"),
        Case(
            "a declared copy counts where the original is, whichever that is", entry(5, session: 1, file: 5),
            entry(5, session: 2, file: 5, standing: .inOrigin),
            entry(id: 8, 5, session: 1, file: 5, standing: .inOrigin), entry(id: 8, 5, session: 2, file: 5),
            counts: "1: 100 + 5", "2: 100 + 5"),
        Case(
            "also under another time and in a third thread, and alone where it is", entry(5, file: 4),
            entry(5, session: 1, file: 5, at: 900_000, standing: .inOrigin),
            entry(id: 8, 5, session: 1, file: 5, standing: .inOrigin), counts: "0: 100 + 5", "1: 100 + 5"),
        Case(
            "a model that is named later is that of the request",
            entry(5, file: 4, model: .max), entry(5, file: 4, model: 3), counts: "0: 100 + 5 of 3"),
        Case(
            "a copy without a model takes nothing away, and one with a model gives it",
            entry(5, session: 1, file: 1, at: 1, model: .max), entry(5, file: 0, at: 9, model: 2),
            entry(id: 8, 5, file: 0, model: .max), entry(id: 8, 5, session: 1, file: 1, at: 1, model: 1),
            counts: "0: 100 + 5 of 2", "0: 100 + 5 of 1"),
        Case(
            "summaries count as long as they are alone",
            entry(5, variant: 1, own: true, is: .summary),
            entry(6, variant: 2, own: true, is: .summary),
            entry(4, variant: 2, own: true, is: .summary), counts: "0: 100 + 5", "0: 100 + 6"),
        Case(
            "beside what they sum up they do not", entry(500, own: true, is: .summary), entry(1, variant: 1, own: true),
            entry(2, variant: 9, own: true), counts: "0: 100 + 1", "0: 100 + 2"),
        Case(
            "a sum of an interval counts with what the records of its model in that do not state",
            entry(prompt: 300, 9, variant: 1, own: true, at: 5, is: .summary),
            entry(prompt: 70, 7, variant: 2, own: true, at: 9, is: .summary),
            entry(2, variant: 3, own: true, at: 5),
            entry(prompt: 80, 8, variant: 4, own: true, at: 7),
            entry(prompt: 10, 1, variant: 5, own: true, at: 10),
            counts: "0: 100 + 2", "0: 200 + 7", "0: 80 + 8", "0: 10 + 1"),
        Case(
            "and not at all beside records of models with other names",
            entry(prompt: 300, 9, variant: 1, own: true, model: 1, is: .summary),
            entry(2, variant: 3, own: true, model: 2), counts: "0: 100 + 2 of 2"),
    ]

    @Test("cases", arguments: cases)
    private func check(_ example: Case) {
        for entries in [example.entries, example.entries.reversed()] {
            let counted = Self.counted(entries).map { entry in
                "\(entry.session): \(entry.counts.input) + \(entry.counts.output)"
                    + (entry.model == 0 ? "" : " of \(entry.model)")
            }
            #expect(counted.sorted() == example.counts.filter { !$0.isEmpty }.sorted())
        }
    }

    @Test("the result depends neither on the order nor on merging in between", arguments: 0..<300)
    func laws(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let entries = (0..<Int.random(in: 0..<40, using: &random)).map { _ in
            let role = [TokenRecord.Role.main, .main, .main, .main, .sidechain, .summary].randomElement(using: &random)!
            return Self.entry(
                id: .random(in: 0..<3, using: &random), prompt: .random(in: 0..<3, using: &random),
                .random(in: 1..<4, using: &random), variant: .random(in: 0..<2, using: &random),
                session: .random(in: 0..<4, using: &random), file: .random(in: 0..<6, using: &random),
                at: .random(in: 0..<3, using: &random), model: Bool.random(using: &random) ? 1 : .max, is: role,
                standing: role != .main ? .own : [.own, .own, .probableCopy, .estimate].randomElement(using: &random)!,
                searches: .random(in: 0..<2, using: &random))
        }
        let expected = Self.counted(entries)
        #expect(Self.counted(entries.shuffled(using: &random)) == expected)
        let place = Int.random(in: 0...entries.count, using: &random)
        var kept = Array(entries[..<place])
        TokenMerge.reduce(&kept)
        #expect(Self.counted(kept + entries[place...]) == expected, "seed \(seed)")
        let file = UInt32.random(in: 0..<6, using: &random)
        kept += entries[place...]
        TokenMerge.reduce(&kept)
        kept.removeAll { $0.file == file }
        #expect(Self.counted(kept) == Self.counted(entries.filter { $0.file != file }))
    }
}
