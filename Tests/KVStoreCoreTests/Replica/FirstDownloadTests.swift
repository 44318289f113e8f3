import StoreTestSupport
import Testing

@testable import KVStoreCore

@Suite("First and full downloads")
struct FirstDownloadTests {
    @Test("the daemon's values replace values written before, with reason 1; the others are sent")
    func provisional() {
        var bench = ReplicaBench()
        _ = bench.set("theme", "default")
        _ = bench.set("mine", "1")
        _ = bench.set("gone", "kept")
        #expect(bench.handle(.attached(isLive: false)) == ["send none"])
        #expect(
            bench.answer(
                cursor: 7, isInitial: true, [.other("theme", "dark"), .other("new", "2"), .other("gone", nil)]) == [
                    "append theme=dark", "append new=2", "append mine=1 pending", "append gone=kept pending",
                    "state e 7", "notify 1 new theme", "send e 7 mine gone",
                ])
        #expect(bench.values == ["theme": "dark", "new": "2", "mine": "1", "gone": "kept"])
        #expect(bench.replica.state.initialSyncCompleted)
        #expect(bench.answer(cursor: 9) == ["acknowledged mine", "acknowledged gone", "state e 9"])
    }

    @Test("a value written before the first download gives way even to an older one")
    func newerDefault() {
        var bench = ReplicaBench()
        bench.now.wall = 2_000_000
        _ = bench.set("theme", "default")
        _ = bench.handle(.attached(isLive: false))
        _ = bench.answer(cursor: 7, isInitial: true, [.other("theme", "dark", at: 1)])
        #expect(bench.values == ["theme": "dark"])
        #expect(bench.pendingKeys == [])
    }

    @Test("an equal value of the daemon replaces a default without a notification")
    func equalDefault() {
        var bench = ReplicaBench()
        _ = bench.set("theme", "dark")
        _ = bench.handle(.attached(isLive: false))
        #expect(
            bench.answer(cursor: 7, isInitial: true, [.other("theme", "dark")]) == ["append theme=dark", "state e 7"])
    }

    @Test("a download requests all pages; the cursor is set with the last one")
    func paging() {
        var bench = ReplicaBench()
        _ = bench.handle(.attached(isLive: false))
        _ = bench.set("own", "1")
        #expect(
            bench.answer(cursor: 3, isInitial: true, hasMore: true, [.other("a", "1")])
                == ["state none", "append a=1", "notify 1 a", "send e 3"])
        #expect(bench.replica.state.cursor == nil)
        #expect(!bench.replica.state.initialSyncCompleted)
        #expect(
            bench.answer(cursor: 5, hasMore: true, [.other("b", "1")])
                == ["state none", "append b=1", "notify 1 b", "send e 5"])
        #expect(
            bench.answer(cursor: 6, [.other("c", "1")]) == [
                "append c=1", "append own=1 pending", "state e 6", "notify 1 c", "send e 6 own",
            ])
    }

    @Test("an interrupted download starts over")
    func interrupted() {
        var bench = ReplicaBench()
        _ = bench.handle(.attached(isLive: true))
        _ = bench.answer(cursor: 3, isInitial: true, hasMore: true, [.other("a", "1")])
        _ = bench.fail(.unreachable("gone"))
        bench.advance(milliseconds: 60_000)
        #expect(bench.handle(.woke) == ["send none"])
        #expect(bench.answer(cursor: 3, isInitial: true, [.other("a", "1")]) == ["state e 3", "open stream e 3"])
    }

    @Test("a restored daemon gets what it lacks, and the replica gets what it lacks")
    func newEpoch() {
        var bench = ReplicaBench.joined()
        for key in ["a", "b", "c"] as [StoreKey] { _ = bench.set(key, "new") }
        while bench.request != nil { _ = bench.answer(cursor: 3) }
        _ = bench.synchronize()
        let theirs: [SequencedRecord] = [.other("a", "old", at: 10), .other("d", "only there")]
        #expect(bench.answer(epoch: "f", cursor: 2, isInitial: true, theirs) == ["send none"])
        #expect(
            bench.answer(epoch: "f", cursor: 2, isInitial: true, theirs) == [
                "append d=only there", "append a=new pending", "append b=new pending",
                "append c=new pending", "state f 2", "notify 0 d", "send f 2 a b c",
            ])
        #expect(bench.values == ["a": "new", "b": "new", "c": "new", "d": "only there"])
    }

    @Test("below the horizon, keys that the daemon lacks are removed; pending ones stay and are sent")
    func horizon() {
        var bench = ReplicaBench.joined()
        _ = bench.set("clean", "1")
        _ = bench.set("kept", "1")
        while bench.request != nil { _ = bench.answer(cursor: 2) }
        let kept = bench.records.filter { $0.key == "kept" }.map {
            SequencedRecord(record: $0, sequence: 0)
        }
        _ = bench.synchronize()
        _ = bench.set("pending", "1")
        #expect(bench.answer(cursor: 50, isInitial: true, kept) == ["send none"])
        #expect(
            bench.answer(cursor: 50, isInitial: true, kept) == [
                "append clean removed", "state e 50", "notify 0 clean", "send e 50 pending",
            ])
        #expect(
            bench.answer(cursor: 51) == [
                "acknowledged pending", "state e 51", "finish 1: 1 sent, 1 received, 0 pending",
            ])
        #expect(bench.values == ["kept": "1", "pending": "1"])
    }

    @Test("a key written during a download is not mistaken for one that the daemon removed")
    func writtenMeanwhile() {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        _ = bench.answer(cursor: 1)
        _ = bench.synchronize()
        _ = bench.answer(cursor: 10, isInitial: true, hasMore: true)
        #expect(bench.answer(cursor: 10, isInitial: true, hasMore: true) == ["state e 1", "send e 10"])
        _ = bench.set("a", "2")
        #expect(bench.answer(cursor: 20) == ["state e 20", "send e 20 a"])
        #expect(bench.values == ["a": "2"])
    }

    @Test("a download ends when another process has moved the replica on")
    func overtaken() {
        var bench = ReplicaBench.joined()
        _ = bench.synchronize()
        _ = bench.answer(cursor: 10, isInitial: true)
        #expect(
            bench.answer(cursor: 10, isInitial: true, hasMore: true, [.other("b", "1")])
                == ["state e 0", "append b=1", "notify 0 b", "send e 10"])
        var state = bench.replica.currentState
        (state.cursor, state.partialDownload) = (SyncCursor(epoch: "e", sequence: 30), nil)
        _ = bench.replica.replay(.state(state))
        // The next request continues from the other process's cursor.
        #expect(bench.answer(cursor: 20, [.other("c", "1")]) == ["send e 30"])
        #expect(bench.replica.state.cursor == SyncCursor(epoch: "e", sequence: 30))
        #expect(
            bench.answer(cursor: 40, [.other("d", "1")]) == [
                "append d=1", "state e 40", "notify 0 d", "finish 1: 0 sent, 2 received, 0 pending",
            ])
        #expect(bench.values == ["b": "1", "d": "1"])
    }
}
