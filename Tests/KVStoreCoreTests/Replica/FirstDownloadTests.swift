import Testing

@testable import KVStore

@Suite("First download and full passes")
struct FirstDownloadTests {
    @Test(
        "what the daemon has wins over what was written before, told with reason 1; the rest is sent"
    )
    func provisional() {
        var bench = ReplicaBench()
        _ = bench.set("theme", "default")
        _ = bench.set("mine", "1")
        _ = bench.set("gone", "kept")
        #expect(bench.handle(.attached(isLive: false)) == ["send none 0"])
        #expect(
            bench.answer(
                cursor: 7, initial: true,
                [.other("theme", "dark"), .other("new", "2"), .other("gone", nil)])
                == [
                    "append theme=dark", "append new=2", "append mine=1 pending",
                    "append gone=kept pending", "state e 7", "notify 1 new theme",
                    "send e 7 mine gone",
                ])
        #expect(bench.values == ["theme": "dark", "new": "2", "mine": "1", "gone": "kept"])
        #expect(bench.replica.state.initialSyncCompleted)
        #expect(bench.answer(cursor: 9) == ["acknowledged mine", "acknowledged gone", "state e 9"])
    }

    @Test("a value that is newer than the daemon's still gives way before the first download")
    func newerDefault() {
        var bench = ReplicaBench()
        bench.now.wall = 2_000_000
        _ = bench.set("theme", "default")
        _ = bench.handle(.attached(isLive: false))
        _ = bench.answer(cursor: 7, initial: true, [.other("theme", "dark", at: 1)])
        #expect(bench.values == ["theme": "dark"])
        #expect(bench.replica.pendingKeys == [])
    }

    @Test("an equal value on the daemon is taken over without a notification")
    func equalDefault() {
        var bench = ReplicaBench()
        _ = bench.set("theme", "dark")
        _ = bench.handle(.attached(isLive: false))
        #expect(
            bench.answer(cursor: 7, initial: true, [.other("theme", "dark")])
                == ["append theme=dark", "state e 7"])
    }

    @Test("pages are asked for until the end; the cursor is kept only then")
    func paging() {
        var bench = ReplicaBench()
        _ = bench.handle(.attached(isLive: false))
        _ = bench.set("own", "1")
        #expect(
            bench.answer(cursor: 3, initial: true, more: true, [.other("a", "1")])
                == ["state none 0", "append a=1", "notify 1 a", "send e 3"])
        #expect(bench.replica.state.epoch == nil)
        #expect(!bench.replica.state.initialSyncCompleted)
        #expect(
            bench.answer(cursor: 5, more: true, [.other("b", "1")])
                == ["state none 0", "append b=1", "notify 1 b", "send e 5"])
        #expect(
            bench.answer(cursor: 6, [.other("c", "1")])
                == [
                    "append c=1", "append own=1 pending", "state e 6", "notify 1 c", "send e 6 own",
                ])
    }

    @Test("a pass that breaks off starts over")
    func brokenPass() {
        var bench = ReplicaBench()
        _ = bench.handle(.attached(isLive: true))
        _ = bench.answer(cursor: 3, initial: true, more: true, [.other("a", "1")])
        _ = bench.handle(.failed(.unreachable("gone")))
        bench.pass(milliseconds: 60_000)
        #expect(bench.handle(.woke) == ["send none 0"])
        #expect(
            bench.answer(cursor: 3, initial: true, [.other("a", "1")])
                == ["state e 3", "open stream e 3"])
    }

    @Test("a restored daemon gets everything that it lacks, and gives what the replica lacks")
    func newEpoch() {
        var bench = ReplicaBench.joined()
        for key in ["a", "b", "c"] { _ = bench.set(key, "new") }
        while bench.request != nil { _ = bench.answer(cursor: 3) }
        _ = bench.handle(.synchronize(waiter: 1))
        let theirs: [SyncChange] = [.other("a", "old", at: 10), .other("d", "only there")]
        #expect(
            bench.answer(epoch: "f", cursor: 2, initial: true, theirs) == ["send none 0"])
        #expect(
            bench.answer(epoch: "f", cursor: 2, initial: true, theirs) == [
                "append d=only there", "append a=new pending", "append b=new pending",
                "append c=new pending", "state f 2", "notify 0 d", "send f 2 a b c",
            ])
        #expect(
            bench.values == ["a": "new", "b": "new", "c": "new", "d": "only there"])
    }

    @Test("below the horizon keys that the daemon no longer has go; pending ones stay and are sent")
    func horizon() {
        var bench = ReplicaBench.joined()
        _ = bench.set("clean", "1")
        _ = bench.set("kept", "1")
        while bench.request != nil { _ = bench.answer(cursor: 2) }
        let kept = bench.replica.records.filter { $0.key == "kept" }.map { SyncChange($0) }
        _ = bench.handle(.synchronize(waiter: 1))
        _ = bench.set("pending", "1")
        #expect(bench.answer(cursor: 50, initial: true, kept) == ["send none 0"])
        #expect(
            bench.answer(cursor: 50, initial: true, kept) == [
                "append clean removed", "state e 50", "notify 0 clean", "send e 50 pending",
            ])
        #expect(
            bench.answer(cursor: 51) == [
                "acknowledged pending", "state e 51", "finish 1: 1 sent, 1 received, 0 pending",
            ])
        #expect(bench.values == ["kept": "1", "pending": "1"])
    }

    @Test("a key that was written during a pass is not taken for one that the daemon dropped")
    func writtenMeanwhile() {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        _ = bench.answer(cursor: 1)
        _ = bench.handle(.synchronize(waiter: 1))
        _ = bench.answer(cursor: 10, initial: true, more: true)
        #expect(
            bench.answer(cursor: 10, initial: true, more: true) == ["state e 1", "send e 10"])
        _ = bench.set("a", "2")
        #expect(bench.answer(cursor: 20) == ["state e 20", "send e 20 a"])
        #expect(bench.values == ["a": "2"])
    }

    @Test("another process's progress in the middle of a pass ends the pass")
    func overtaken() {
        var bench = ReplicaBench.joined()
        _ = bench.handle(.synchronize(waiter: 1))
        _ = bench.answer(cursor: 10, initial: true)
        #expect(
            bench.answer(cursor: 10, initial: true, more: true, [.other("b", "1")])
                == ["state e 0", "append b=1", "notify 0 b", "send e 10"])
        var state = bench.replica.currentState
        (state.cursor, state.download) = (30, nil)
        _ = bench.replica.replay(.state(state))
        // Then what is new since the other's progress is asked for.
        #expect(bench.answer(cursor: 20, [.other("c", "1")]) == ["send e 30"])
        #expect(bench.replica.state.cursor == 30)
        #expect(
            bench.answer(cursor: 40, [.other("d", "1")]) == [
                "append d=1", "state e 40", "notify 0 d",
                "finish 1: 0 sent, 2 received, 0 pending",
            ])
        #expect(bench.values == ["b": "1", "d": "1"])
    }
}
