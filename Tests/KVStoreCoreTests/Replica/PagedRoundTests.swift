import Testing

@testable import KVStore

@Suite("Rounds of several pages")
struct PagedRoundTests {
    @Test("what is sent counts as taken with the last page, whose cursor covers it")
    func acknowledgement() {
        var bench = ReplicaBench.joined()
        #expect(bench.set("a", "1") == ["append a=1 pending", "send e 0 a"])
        _ = bench.answer(cursor: 1, more: true, [.other("b", "1", seq: 1)])
        #expect(bench.replica.pendingKeys == ["a"])
        // Sent once more behind the last page, not with each.
        #expect(bench.request?.changes.isEmpty == true)
        #expect(bench.answer(cursor: 3, [.other("c", "1", seq: 2)]).last == "send e 3 a")
        #expect(bench.answer(cursor: 3) == ["acknowledged a"])
        #expect(bench.replica.pendingKeys.isEmpty)
    }

    @Test(
        "what a download brought that was not completed is sent, where the daemon has lost it since"
    )
    func abandonedDownload() {
        let lineage = [SyncEpoch(epoch: "e", end: 5)]
        for lost in [true, false] {
            var bench = ReplicaBench.joined()
            _ = bench.handle(.synchronize(waiter: 1))
            _ = bench.answer(epoch: "f", cursor: 9, initial: true)
            let first = bench.answer(
                epoch: "f", cursor: 7, initial: true, more: true, [.other("a", "1", seq: 7)],
                horizon: 3, lineage: lineage + [SyncEpoch(epoch: "f", end: 9)])
            #expect(first.first == "state e 0")
            _ = bench.handle(.failed(.unreachable("restored")))
            bench.pass(milliseconds: 60_000)
            // It asks for everything again, also where the daemon would go on.
            #expect(bench.handle(.woke) == ["send none 0"])
            let end: UInt64 = lost ? 6 : 7
            _ = bench.answer(
                epoch: "f", cursor: end, initial: true, horizon: 3,
                lineage: lineage + [SyncEpoch(epoch: "f", end: end)])
            #expect((bench.request?.changes.map(\.key) == ["a"]) == lost)
            #expect((bench.values["a"] == "1") == lost)
        }
    }

    @Test("an own record that a later page brings is reported as sent, not as received")
    func report() {
        var bench = ReplicaBench.joined()
        _ = bench.handle(.synchronize(waiter: 1))
        _ = bench.answer()
        _ = bench.set("a", "1")
        let own = SyncChange(bench.replica.records[0], seq: 2)
        _ = bench.handle(.synchronize(waiter: 2))
        _ = bench.answer(cursor: 1, more: true, [.other("b", "1", seq: 1)])
        #expect(
            bench.answer(cursor: 2, [own]).contains("finish 2: 1 sent, 1 received, 0 pending"))
    }

    @Test("a greater stamp is told with its page, and at once where its page has been told")
    func winners() {
        var hub = Hub(epoch: "e")
        for key in ["a", "b", "c"] {
            hub.commit(hub.plan([.other(key, "new", at: 900)], now: 1_000))
        }
        func told(since: UInt64) -> [String] {
            let request = SyncRequest(
                replica: "1", epoch: "e", since: since,
                changes: [.other("a", "old", at: 800), .other("c", "old", at: 800)])
            let page = PageLimits(byteCount: 10_000, recordCount: 1)
            return hub.answer(
                request, plan: hub.plan(request.changes, now: 1_000), now: 1_000,
                page: page
            ).changes.map(\.key)
        }
        #expect(told(since: 0) == ["a"])
        #expect(told(since: 1) == ["b", "a"])
        #expect(told(since: 2) == ["c", "a"])
    }
}
