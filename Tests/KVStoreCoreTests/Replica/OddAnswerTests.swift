import Testing

@testable import KVStore

@Suite("Answers that a daemon seldom gives")
struct OddAnswerTests {
    private func live() -> ReplicaBench {
        var bench = ReplicaBench()
        _ = bench.handle(.attached(isLive: true))
        _ = bench.answer(cursor: 4, initial: true)
        _ = bench.handle(.stream(.opened))
        return bench
    }

    @Test(
        "a change on the stream that nobody can keep ends it: nothing is taken, the cursor stays",
        arguments: [
            SyncChange(key: "a", stamp: "x", deleted: true, seq: 5),
            .other("a", "1"),
            .other(String(repeating: "k", count: 70_000), "1", seq: 5),
        ])
    func badChange(_ change: SyncChange) {
        var bench = live()
        let lines = bench.handle(.stream(.change(change)))
        #expect(lines.count == 2 && lines[0] == "close stream")
        #expect(lines.last?.hasPrefix("wake in ") == true)
        #expect(bench.values == [:] && bench.replica.state.cursor == 4)
        #expect(bench.replica.status.connection != .connected)
        // The next round asks from where the replica stands, and the stream opens again.
        bench.pass(milliseconds: 1_000)
        #expect(bench.handle(.woke) == ["send e 4"])
        #expect(bench.answer(cursor: 4) == ["open stream e 4"])
    }

    @Test("an answer with one change that nobody can keep brings nothing and acknowledges nothing")
    func badAnswer() {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        let own = SyncChange(bench.replica.records[0], seq: 1)
        let bad = SyncChange(key: "c", stamp: "x", deleted: true, seq: 3)
        let lines = bench.answer(cursor: 3, [own, .other("b", "1", seq: 2), bad])
        #expect(lines.count == 1 && lines[0].hasPrefix("wake in "))
        #expect(bench.values == ["a": "1"])
        #expect(bench.replica.pendingKeys == ["a"])
        bench.pass(milliseconds: 1_000)
        #expect(bench.handle(.woke) == ["send e 0 a"])
    }

    @Test("an epoch that is too long for any log is an error, not a crash")
    func longEpoch() {
        var bench = ReplicaBench()
        _ = bench.handle(.attached(isLive: true))
        let lines = bench.answer(
            epoch: String(repeating: "e", count: 70_000), cursor: 1, initial: true, more: true,
            [.other("a", "1", seq: 1)])
        #expect(lines.count == 1 && lines[0].hasPrefix("wake in "))
        #expect(bench.values == [:])
    }

    @Test("a change that is to be sent again is sent at once, and stays pending until then")
    func again() {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        let rejected = (bench.request?.changes ?? []).map {
            SyncRejection(key: $0.key, reason: SyncRejection.again, stamp: $0.stamp)
        }
        #expect(bench.answer(rejected: rejected) == ["send e 0 a"])
        #expect(bench.replica.pendingKeys == ["a"])
        #expect(bench.answer(cursor: 1) == ["acknowledged a", "state e 1"])
    }

    @Test(
        "a change refused for a reason unknown here waits for a synchronization that is asked for")
    func unknownReason() {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        let rejected = (bench.request?.changes ?? []).map {
            SyncRejection(key: $0.key, reason: "of a later version", stamp: $0.stamp)
        }
        #expect(bench.answer(rejected: rejected) == [])
        #expect(bench.set("b", "1") == ["append b=1 pending", "send e 0 b"])
        _ = bench.answer(cursor: 1)
        #expect(bench.replica.pendingKeys == ["a"])
        #expect(bench.handle(.synchronize(waiter: 1)) == ["send e 1 a"])
    }

    @Test("a refused key that is written anew is sent with what was written")
    func writtenAnew() {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        let rejected = (bench.request?.changes ?? []).map {
            SyncRejection(key: $0.key, reason: SyncRejection.quota, stamp: $0.stamp)
        }
        #expect(bench.answer(rejected: rejected) == ["notify 2 a"])
        #expect(bench.set("a", "2") == ["append a=2 pending", "send e 0 a"])
    }
}
