import SeededRandomness
import Testing

@testable import UsagePusher

@Suite("Which of several records of a request counts")
struct TokenMergeTests {
    private static func entry(
        id: UInt64, variant: UInt32 = 0, output: Int, isSidechain: Bool = false, file: UInt32 = 0,
        time: Int64 = 0
    ) -> TokenEntry {
        TokenEntry(
            TokenRecord(
                time: time, counts: TokenCounts(output: output), id: id, variant: variant,
                isSidechain: isSidechain, ownCost: 0), file: file, session: file, model: 0)!
    }

    private static func merged(_ entries: [TokenEntry]) -> [TokenEntry] {
        var entries = entries
        TokenMerge.merge(&entries, sessionOrder: [0, 1, 2, 3, 4, 5, 6, 7])
        return entries
    }

    @Test("the main chain counts before a side chain, even with fewer tokens")
    func mainChain() {
        let merged = Self.merged([
            Self.entry(id: 1, variant: 1, output: 9, isSidechain: true),
            Self.entry(id: 1, variant: 2, output: 3),
        ])
        #expect(merged.map(\.counts.output) == [3])
    }

    @Test("requests of the main chain with one id and different variants are different")
    func variants() {
        let merged = Self.merged([
            Self.entry(id: 1, variant: 1, output: 9), Self.entry(id: 1, variant: 2, output: 3),
            Self.entry(id: 1, variant: 2, output: 4),
        ])
        #expect(merged.map(\.counts.output).sorted() == [4, 9])
    }

    @Test("of side chains alone one counts")
    func sideChains() {
        let merged = Self.merged([
            Self.entry(id: 1, variant: 1, output: 9, isSidechain: true),
            Self.entry(id: 1, variant: 2, output: 3, isSidechain: true),
        ])
        #expect(merged.map(\.counts.output) == [9])
    }

    @Test("the result depends neither on the order nor on merging in between", arguments: 0..<200)
    func laws(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let entries = (0..<Int.random(in: 0..<40, using: &random)).map { _ in
            Self.entry(
                id: .random(in: 0..<6, using: &random), variant: .random(in: 0..<3, using: &random),
                output: .random(in: 1..<4, using: &random),
                isSidechain: Bool.random(using: &random), file: .random(in: 0..<4, using: &random),
                time: .random(in: 0..<3, using: &random))
        }
        let expected = Self.merged(entries)
        #expect(Self.merged(entries.shuffled(using: &random)) == expected)
        let place = entries.isEmpty ? 0 : Int.random(in: 0..<entries.count, using: &random)
        let parts = Self.merged(Array(entries[..<place])) + entries[place...]
        #expect(Self.merged(parts) == expected)
        #expect(Self.merged(expected) == expected)
    }
}
