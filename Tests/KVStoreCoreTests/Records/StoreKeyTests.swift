import Foundation
import StoreTestSupport
import Testing

@testable import KVStoreCore

@Suite("Keys")
struct StoreKeyTests {
    private let decomposed: StoreKey = "e\u{301}"
    private let composed: StoreKey = "\u{e9}"

    @Test("keys are equal if and only if their UTF-8 bytes are")
    func equality() {
        #expect(decomposed.text == composed.text)
        #expect(decomposed != composed)
        #expect(Set([decomposed, composed, decomposed, composed]).count == 2)
        #expect(decomposed == StoreKey(String(decoding: [0x65, 0xCC, 0x81], as: UTF8.self)))
        #expect(StoreKey("a\u{FEFF}") != "a")
        #expect(StoreKey("\u{FEFF}a") != "a")
    }

    @Test("keys sort by their UTF-8 bytes")
    func order() {
        let sorted: [StoreKey] = ["", "A", "a", "e\u{301}", "f", "\u{e9}", "\u{FFFD}", "\u{1F600}"]
        #expect(sorted.shuffled().sorted() == sorted)
        for key in sorted { #expect(!(key < key)) }
    }

    @Test("a bridged string is the key of its bytes")
    func bridged() {
        let text = NSMutableString(string: "cafe\u{301}")
        let key = StoreKey(text as String)
        text.append("s")
        #expect(key == "cafe\u{301}")
        #expect(key != "caf\u{e9}")
        #expect(Array(key.text.utf8) == Array("cafe\u{301}".utf8))
    }

    @Test("canonically equivalent keys are two entries of a replica, with notifications of their own")
    func replica() {
        var bench = ReplicaBench.joined()
        #expect(bench.set(decomposed, "1").count == 2)
        _ = bench.set(composed, "2")
        for cursor in 1...2 as ClosedRange<UInt64> { _ = bench.answer(cursor: cursor) }
        #expect(bench.pendingKeys.isEmpty)
        #expect(bench.values == [decomposed: "1", composed: "2"])
        #expect(bench.replica.table.keyCount == 2)
        _ = bench.synchronize()
        let ready = bench.replica.handle(
            .answered(
                id: bench.requestID,
                .success(
                    SyncResponse(
                        cursor: SyncCursor(epoch: "e", sequence: 4), serverTime: bench.now.wall,
                        changes: [
                            .other(decomposed, "3", at: 1_000_100, sequence: 3),
                            .other(composed, nil, at: 1_000_100, sequence: 4),
                        ]))), at: bench.now)
        #expect(ready.notifications.count == 1)
        let keys = ready.notifications.flatMap(\.keys).map { Array($0.utf8) }
        #expect(Set(keys) == Set([decomposed, composed].map { Array($0.text.utf8) }))
        #expect(bench.values == [decomposed: "3"])
    }

    @Test("canonically equivalent keys are two entries of a hub, which answers with both")
    func hub() {
        var hub = Hub(epoch: "e")
        let changes = [
            Samples.record(decomposed, Samples.stamp(1), "1"), Samples.record(composed, Samples.stamp(), "2"),
        ]
        let response = hub.apply(Samples.request(changes))
        #expect(response.rejections.isEmpty && response.changes.isEmpty)
        #expect(hub.keyCount == 2)
        #expect(hub.apply(Samples.request()).changes.map(\.record) == changes)
        _ = hub.apply(Samples.request([Samples.record(decomposed, Samples.stamp(2), nil)]))
        hub.forget(decomposed)
        #expect(hub.records == [composed: changes[1]])
    }

    @Test("a rejection of one of two canonically equivalent keys leaves the other one")
    func rejection() throws {
        var bench = ReplicaBench.joined()
        _ = bench.set("first", "1")
        _ = bench.set(decomposed, "1")
        _ = bench.set(composed, "1")
        _ = bench.answer(cursor: 1)
        let rejections = bench.rejections(.quota(limit: 9)).filter { $0.key == decomposed }
        _ = bench.answer(cursor: 2, rejections: rejections)
        #expect(bench.pendingKeys == [decomposed])
    }

    @Test("generated pairs of canonically equivalent keys never meet", arguments: 1...20)
    func generated(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<50 {
            let (left, right) = StoreKey.canonicalEquivalents(using: &random)
            #expect(left.text == right.text && left != right, "seed \(seed)")
            #expect((left < right) != (right < left), "seed \(seed)")
            #expect(Set([left, right]).count == 2, "seed \(seed)")
            var bench = ReplicaBench.joined()
            var hub = Hub(epoch: "e")
            for (key, value) in [(left, "left"), (right, "right")] {
                _ = bench.set(key, value)
            }
            for _ in 0..<4 {
                guard let request = bench.request else { break }
                let plan = hub.plan(request.changes, now: bench.now.wall)
                hub.commit(plan)
                let answer = hub.answer(request, plan: plan, now: bench.now.wall)
                _ = bench.handle(.answered(id: bench.requestID, .success(answer)))
            }
            #expect(bench.values == [left: "left", right: "right"], "seed \(seed)")
            #expect(bench.pendingKeys.isEmpty, "seed \(seed)")
            #expect(Set(hub.entries.keys) == [left, right], "seed \(seed)")
            var replayed = Replica(id: bench.replica.id, limits: StoreLimits(), seed: 1)
            for entry in bench.replica.entries { _ = replayed.replay(entry) }
            #expect(replayed.table == bench.replica.table, "seed \(seed)")
        }
    }
}
