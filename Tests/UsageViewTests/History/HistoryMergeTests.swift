import Foundation
import StoreTestSupport
import SnapshotModels
import Testing

@testable import UsageState

@Suite("The merge of several devices' history")
struct HistoryMergeTests {
    private typealias Sample = HistorySample
    private static let now = Sample.monday + 30 * Sample.day

    private func merged(_ histories: UsageHistory...) -> UsageHistory {
        histories.reduce(into: UsageHistory()) { $0.merge($1) }
    }

    @Test("it is commutative, associative and idempotent", arguments: 0..<10)
    func laws(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let histories = (0..<3).map { index in
            Sample.random(3, until: Self.now - index * 50_000, steps: 500, using: &generator)
        }
        let (a, b, c) = (histories[0], histories[1], histories[2])
        #expect(merged(a, b) == merged(b, a), "seed \(seed)")
        #expect(merged(merged(a, b), c) == merged(a, merged(b, c)), "seed \(seed)")
        #expect(merged(a, a) == a && merged(merged(a, b), b) == merged(a, b), "seed \(seed)")
    }

    @Test("slots of every kind merge by these laws", arguments: 0..<5)
    func slots(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        func slot() -> HistorySlot {
            func level() -> PercentLevel? {
                Bool.random(using: &generator) ? PercentLevel(halves: .random(in: 0...5, using: &generator)) : nil
            }
            let shown = level()
            return HistorySlot(
                level: shown, isEstimate: shown != nil && Bool.random(using: &generator),
                isReached: Bool.random(using: &generator), levelBeforeReset: level())
        }
        for _ in 0..<5_000 {
            let (a, b, c) = (slot(), slot(), slot())
            #expect(a.merged(with: b) == b.merged(with: a))
            #expect(a.merged(with: b).merged(with: c) == a.merged(with: b.merged(with: c)))
            #expect(a.merged(with: a) == a)
        }
    }

    @Test("the level after a reset is the newer one, else the greater one")
    func newer() {
        func slot(_ percent: Double?, before: Double? = nil, estimate: Bool = false) -> HistorySlot {
            HistorySlot(
                level: percent.flatMap { PercentLevel(percent: $0) }, isEstimate: estimate,
                levelBeforeReset: before.flatMap { PercentLevel(percent: $0) })
        }
        #expect(slot(40).merged(with: slot(42)) == slot(42))
        #expect(slot(80).merged(with: slot(2, before: 70)) == slot(2, before: 70))
        #expect(slot(4, before: 80).merged(with: slot(2, before: 90)) == slot(4, before: 90))
        #expect(slot(40).merged(with: slot(60, estimate: true)) == slot(40))
        #expect(slot(nil, before: 5).merged(with: .gap) == slot(nil, before: 5))
    }

    @Test("what one device did not see is filled in by another")
    func gaps() throws {
        var (first, second) = (UsageHistory(), UsageHistory())
        let reset = Sample.monday + Sample.week
        for (index, percent) in [5.0, 10, 20, 30].enumerated() {
            let time = Sample.monday + index * Sample.hour
            let card = Sample.card(percent, at: time, resetsAt: reset)
            if index % 2 == 0 {
                first.add([card], now: Sample.date(time))
            } else {
                second.add([card], now: Sample.date(time))
            }
        }
        let read = UsageHistory(
            values: [
                UsageHistory.storeKey(deviceID: "A"): HistoryCodec.encode(first),
                UsageHistory.storeKey(deviceID: "B"): HistoryCodec.encode(second),
                UsageHistory.storeKey(deviceID: "C"): Data("noise".utf8),
                SyncedUsageSnapshot.storeKey: Data("{}".utf8),
            ], now: Sample.date(Sample.monday + Sample.day))
        let window = try #require(read[Sample.identity()])
        #expect(window.finePoints.compactMap(\.slot.level?.percent) == [5, 10, 20, 30])
    }

    @Test("windows without an account's name are those of the only account")
    func accounts() {
        func history(_ accounts: [String?]) -> UsageHistory {
            let cards = accounts.map { Sample.card(5, at: Sample.monday, resetsAt: nil, account: $0) }
            var history = UsageHistory()
            history.add(cards, now: Sample.date(Sample.monday))
            return UsageHistory(
                values: [UsageHistory.storeKey(deviceID: "A"): HistoryCodec.encode(history)],
                now: Sample.date(Sample.monday))
        }
        func names(_ accounts: [String?]) -> [String?] { history(accounts).windows.keys.sorted().map(\.account) }
        #expect(names([nil]) == [nil])
        #expect(names([nil, "B@example.test"]) == ["b@example.test"])
        #expect(names([nil, "B", " a "]) == ["a", "b", nil])
        #expect(history(["A@example.test"])[Sample.identity(account: nil)] != nil)
        #expect(history(["A@example.test", "b"])[Sample.identity(account: nil)] == nil)
    }

    @Test("no key of history is taken for one of a snapshot, and all have a legal length")
    func keys() {
        let key = UsageHistory.storeKey(deviceID: UUID().uuidString)
        #expect(!key.hasPrefix(SyncedUsageSnapshot.storeKey) && key.utf8.count == 63)
        #expect(UsageData.isKey(key) && !UsageData.isKey("com.codexbar.usage.other"))
    }
}
