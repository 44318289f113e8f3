import Testing

@testable import UsagePusher

@Suite("Summaries among the records of a request")
struct SummaryMergeTests {
    private func entry(_ input: Int, variant: UInt32, isSummary: Bool = false, file: UInt32 = 0)
        -> TokenEntry
    {
        TokenEntry(
            TokenRecord(
                time: 1, counts: TokenCounts(input: input), id: 7, variant: variant,
                isSummary: isSummary), file: file, session: 0, model: 0)!
    }

    private func merged(_ entries: [TokenEntry]) -> [Int] {
        var entries = entries
        TokenMerge.merge(&entries, sessionOrder: [0])
        return entries.map(\.counts.input).sorted()
    }

    @Test("summaries with different variants count, as long as they are alone")
    func alone() {
        #expect(
            merged([entry(5, variant: 1, isSummary: true), entry(6, variant: 2, isSummary: true)])
                == [5, 6])
        #expect(
            merged([entry(5, variant: 1, isSummary: true), entry(6, variant: 1, isSummary: true)])
                == [6])
    }

    @Test(
        "beside what they sum up they do not count, whatever the order and the size",
        arguments: [false, true])
    func beside(isReversed: Bool) {
        let entries = [
            entry(500, variant: 1, isSummary: true), entry(600, variant: 2, isSummary: true),
            entry(1, variant: 1), entry(2, variant: 9),
        ]
        #expect(merged(isReversed ? entries.reversed() : entries) == [1, 2])
    }
}
