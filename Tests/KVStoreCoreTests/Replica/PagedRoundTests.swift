import StoreTestSupport
import Testing

@testable import KVStoreCore

@Suite("Transfers of several pages")
struct PagedRoundTests {
    @Test("sent changes are acknowledged with the last page, whose cursor covers them")
    func acknowledgement() {
        var bench = ReplicaBench.joined()
        #expect(bench.set("a", "1") == ["append a=1 pending", "send e 0 a"])
        _ = bench.answer(cursor: 1, hasMore: true, [.other("b", "1", sequence: 1)])
        #expect(bench.pendingKeys == ["a"])
        // Sent again after the last page, not with every page.
        #expect(bench.request?.changes.isEmpty == true)
        #expect(bench.answer(cursor: 3, [.other("c", "1", sequence: 2)]).last == "send e 3 a")
        #expect(bench.answer(cursor: 3) == ["acknowledged a"])
        #expect(bench.pendingKeys.isEmpty)
    }

    @Test("records of an abandoned download are sent back if the daemon has lost them since")
    func abandonedDownload() {
        let former = SyncCursor(epoch: "e", sequence: 5)
        for lost in [true, false] {
            var bench = ReplicaBench.joined()
            _ = bench.synchronize()
            _ = bench.answer(epoch: "f", cursor: 9, isInitial: true)
            let first = bench.answer(
                epoch: "f", cursor: 7, isInitial: true, hasMore: true, [.other("a", "1", sequence: 7)], horizon: 3,
                lineage: [former, SyncCursor(epoch: "f", sequence: 9)])
            #expect(first.first == "state e 0")
            _ = bench.fail(.unreachable("restored"))
            bench.advance(milliseconds: 60_000)
            // The download starts over, even if the daemon could continue.
            #expect(bench.handle(.woke) == ["send none"])
            let end: UInt64 = lost ? 6 : 7
            _ = bench.answer(
                epoch: "f", cursor: end, isInitial: true, horizon: 3,
                lineage: [former, SyncCursor(epoch: "f", sequence: end)])
            #expect((bench.request?.changes.map(\.key) == ["a"]) == lost)
            #expect((bench.values["a"] == "1") == lost)
        }
    }

    @Test("an own record in a later page counts as sent, not as received")
    func report() {
        var bench = ReplicaBench.joined()
        _ = bench.synchronize()
        _ = bench.answer()
        _ = bench.set("a", "1")
        let own = SequencedRecord(record: bench.records[0], sequence: 2)
        _ = bench.synchronize()
        _ = bench.answer(cursor: 1, hasMore: true, [.other("b", "1", sequence: 1)])
        #expect(bench.answer(cursor: 2, [own]).contains("finish 2: 1 sent, 1 received, 0 pending"))
    }

    @Test("a winner comes with its page, or at once if its page has been sent before")
    func winners() {
        var hub = Hub(epoch: "e")
        for key in ["a", "b", "c"] as [StoreKey] {
            hub.commit(hub.plan([.other(key, "new", at: 900)], now: 1_000))
        }
        func keys(since sequence: UInt64) -> [StoreKey] {
            let request = SyncRequest(
                replica: ReplicaID(rawValue: 1), since: SyncCursor(epoch: "e", sequence: sequence),
                changes: [.other("a", "old", at: 800), .other("c", "old", at: 800)])
            let page = PageLimits(byteCount: 10_000, recordCount: 1)
            return hub.answer(request, plan: hub.plan(request.changes, now: 1_000), now: 1_000, page: page).changes.map(
                \.record.key)
        }
        #expect(keys(since: 0) == ["a"])
        #expect(keys(since: 1) == ["b", "a"])
        #expect(keys(since: 2) == ["c", "a"])
    }
}
