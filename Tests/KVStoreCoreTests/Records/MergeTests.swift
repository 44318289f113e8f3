import Foundation
import Testing

@testable import KVStoreCore

@Suite("Merge rule")
struct MergeTests {
    /// Records of one key from few stamps and contents, so that ties are common.
    private func record(_ random: inout SplitMix64) -> StoreRecord {
        let contents: [StoreRecord.Content] = [
            .tombstone, .value(Data()), .value(Data([1])), .value(Data([1, 0])),
            .value(Data([2])), .value(Data([255])),
        ]
        return StoreRecord(
            key: "k",
            stamp: StoreStamp(
                milliseconds: Int64.random(in: 1...2, using: &random),
                counter: UInt32.random(in: 0...1, using: &random),
                replica: ReplicaID(rawValue: UInt64.random(in: 1...2, using: &random))),
            content: contents.randomElement(using: &random)!)
    }

    private func merge(_ left: StoreRecord, _ right: StoreRecord) -> StoreRecord {
        right.supersedes(left) ? right : left
    }

    @Test("the order is total: of two different records exactly one supersedes the other")
    func total() {
        var random = SplitMix64(seed: 1)
        for _ in 0..<3_000 {
            let (a, b, c) = (record(&random), record(&random), record(&random))
            #expect(a.supersedes(b) != b.supersedes(a) || a == b && !a.supersedes(b))
            #expect(!a.supersedes(a))
            if a.supersedes(b), b.supersedes(c) { #expect(a.supersedes(c)) }
        }
    }

    @Test("merging is commutative, associative and idempotent")
    func laws() {
        var random = SplitMix64(seed: 2)
        for _ in 0..<3_000 {
            let (a, b, c) = (record(&random), record(&random), record(&random))
            #expect(merge(a, b) == merge(b, a))
            #expect(merge(merge(a, b), c) == merge(a, merge(b, c)))
            #expect(merge(a, a) == a)
        }
    }

    @Test("records merge to the same result in any order and with any repetition", arguments: 1...50)
    func anyOrder(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let records = (0..<8).map { _ in record(&random) }
        let expected = records.reduce(records[0], merge)
        for _ in 0..<10 {
            let shuffled = (records + records).shuffled(using: &random)
            #expect(shuffled.reduce(shuffled[0], merge) == expected)
        }
    }

    @Test("the text of a stamp sorts like the stamp and parses back")
    func stampText() {
        var random = SplitMix64(seed: 3)
        func stamp() -> StoreStamp {
            StoreStamp(
                milliseconds: Int64.random(in: 0...(1 << 48) - 1, using: &random)
                    >> Int64.random(in: 0...47, using: &random),
                counter: UInt32(truncatingIfNeeded: random.next()) >> UInt32.random(in: 0...31, using: &random),
                replica: ReplicaID(rawValue: random.next() >> UInt64.random(in: 0...63, using: &random)))
        }
        for _ in 0..<1_000 {
            let (a, b) = (stamp(), stamp())
            #expect((a < b) == (a.description < b.description))
            #expect(StoreStamp(a.description) == a)
        }
    }

    @Test("texts that are not stamps do not parse")
    func invalidTexts() {
        let good = "0000000f4240-00000001-00000000000000ab"
        #expect(StoreStamp(good) != nil)
        let invalid = [
            "", "-", "--", good + " ", " " + good, good.uppercased(), good + "-", String(good.dropLast()),
            "0000000f4240-00000001", "+000000f4240-00000001-00000000000000ab", good.replacing("-", with: "_"),
            good.replacing("a", with: "g"), good.replacing("0000000f", with: "000000٠f"),
        ]
        for text in invalid { #expect(StoreStamp(text) == nil, "\(text)") }
    }
}
