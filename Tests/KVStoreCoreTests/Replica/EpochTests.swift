import Testing

@testable import KVStore

@Suite("Epochs of a replica")
struct EpochTests {
    @Test("an answer that goes on under another epoch moves epoch and cursor together")
    func goesOver() {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        _ = bench.answer(epoch: "f", cursor: 3)
        #expect(bench.replica.state.epoch == "f")
        #expect(bench.replica.state.cursor == 3)
        #expect(bench.replica.pendingKeys.isEmpty)
    }

    @Test("a replica drops what the daemon lacks only where it may have missed the removal")
    func afterStartingOver() {
        let cases: [(end: UInt64, horizon: UInt64, isSentAgain: Bool)] = [
            (4, 5, false), (4, 4, true), (3, 5, true),
        ]
        for (end, horizon, isSentAgain) in cases {
            var bench = ReplicaBench.joined()
            _ = bench.set("a", "1")
            _ = bench.answer(cursor: 4)
            _ = bench.set("b", "2")
            _ = bench.answer(epoch: "f", cursor: 9, initial: true)
            let lineage = [SyncEpoch(epoch: "e", end: end), SyncEpoch(epoch: "f", end: 9)]
            _ = bench.answer(
                epoch: "f", cursor: 9, initial: true, horizon: horizon, lineage: lineage)
            #expect((bench.values["a"] == "1") == isSentAgain)
            #expect(bench.replica.pendingKeys.contains("a") == isSentAgain)
        }
    }

    @Test("a removal with the stamp of what it removed gives way to the value")
    func removalOfOwnStamp() throws {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        let stamp = try #require(bench.replica.records.first).stamp
        _ = bench.answer(cursor: 4)
        _ = bench.handle(.synchronize(waiter: 1))
        _ = bench.answer(epoch: "f", cursor: 1, initial: true)
        // Another replica has dropped the key, and the daemon has lost it since.
        let dropped = SyncChange(Record(key: "a", stamp: stamp, content: .tombstone), seq: 1)
        _ = bench.answer(epoch: "f", cursor: 1, initial: true, [dropped])
        #expect(bench.values == ["a": "1"])
        #expect(bench.request?.changes.map(\.key) == ["a"])
    }

    @Test("a replica that does not know how far it was drops keys only below the horizon")
    func afterDamage() {
        for horizon in [0, 1] as [UInt64] {
            var bench = ReplicaBench.joined()
            _ = bench.set("a", "1")
            _ = bench.answer(cursor: 4)
            bench.replica.forgetProgress(isStateLost: false)
            _ = bench.handle(.synchronize(waiter: 1))
            _ = bench.answer(epoch: "f", cursor: 1, initial: true, horizon: horizon)
            #expect((bench.values["a"] == "1") == (horizon == 0))
            #expect((bench.request?.changes.map(\.key) == ["a"]) == (horizon == 0))
        }
    }

    @Test("an answer that another process has overtaken leaves epoch and cursor as they are")
    func overtaken() {
        var bench = ReplicaBench.joined()
        _ = bench.handle(.synchronize(waiter: 1))
        var state = bench.replica.currentState
        (state.epoch, state.cursor) = ("f", 21)
        _ = bench.replica.replay(.state(state))
        _ = bench.answer(epoch: "e", cursor: 19)
        #expect(bench.replica.state.epoch == "f")
        #expect(bench.replica.state.cursor == 21)
    }

    @Test("a stream of an earlier epoch tells nothing to a replica that has gone on")
    func earlierStream() {
        var bench = ReplicaBench()
        _ = bench.handle(.attached(isLive: true))
        #expect(bench.answer(cursor: 4, initial: true) == ["state e 4", "open stream e 4"])
        var state = bench.replica.currentState
        (state.epoch, state.cursor) = ("f", 21)
        _ = bench.replica.replay(.state(state))
        _ = bench.handle(.stream(.change(.other("a", "1", seq: 30))))
        #expect(bench.replica.state.cursor == 21)
        #expect(bench.values.isEmpty)
    }

    @Test("an answer to a request of an earlier epoch tells nothing to a replica that has gone on")
    func earlierAnswer() {
        var bench = ReplicaBench.joined()
        #expect(bench.handle(.synchronize(waiter: 1)) == ["send e 0"])
        var state = bench.replica.currentState
        (state.epoch, state.cursor) = ("f", 21)
        _ = bench.replica.replay(.state(state))
        #expect(bench.answer(cursor: 30, [.other("a", "1", seq: 30)]) == ["send f 21"])
        #expect(bench.replica.state.cursor == 21 && bench.replica.state.epoch == "f")
        #expect(bench.values.isEmpty)
    }

    @Test("what a lost history had confirmed does not keep keys from being sent")
    func clockAfterLoss() {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        _ = bench.answer(cursor: 1, [.other("b", "1", at: 900_000_000)])
        _ = bench.set("a", "2")
        _ = bench.answer(epoch: "f", cursor: 0, initial: true)
        _ = bench.answer(epoch: "f", cursor: 0, initial: true)
        #expect(bench.replica.pendingKeys == ["a", "b"])
        for _ in 0..<2 {
            let late = (bench.request?.changes ?? []).filter {
                Stamp($0.stamp)!.milliseconds > bench.now.wall + WireLimits.futureMilliseconds
            }
            _ = bench.answer(
                epoch: "f", cursor: 2,
                rejected: late.map {
                    SyncRejection(key: $0.key, reason: SyncRejection.clock, stamp: $0.stamp)
                })
        }
        #expect(bench.replica.pendingKeys.isEmpty)
        #expect(bench.values == ["a": "2", "b": "1"])
    }

    @Test("a limit below what a replica takes for confirmed shows that the daemon has lost it")
    func limitBelowConfirmed() throws {
        var bench = ReplicaBench.joined()
        _ = bench.handle(.synchronize(waiter: 1))
        _ = bench.answer(cursor: 1, [.other("b", "1", at: 900_000_000)])
        _ = bench.set("a", "1")
        let refused = try #require(bench.request?.changes.first)
        #expect(Stamp(refused.stamp)!.milliseconds == 900_000_000)
        _ = bench.answer(
            cursor: 1,
            rejected: [
                SyncRejection(
                    key: "a", reason: SyncRejection.clock, limit: 1_060_000, stamp: refused.stamp)
            ])
        let again = try #require(bench.request?.changes.first.flatMap { Stamp($0.stamp) })
        #expect(again.milliseconds == 1_000_000)
    }

    @Test("what is taken in without a cursor that covers it stays to be sent")
    func uncoveredAcknowledgement() {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        // The daemon took it in and has the replica start over. Then it is put back to what it was before.
        #expect(bench.answer(epoch: "f", cursor: 9, initial: true) == ["send none 0"])
        #expect(bench.replica.pendingKeys == ["a"])
        _ = bench.handle(.failed(.unreachable("restored")))
        bench.pass(milliseconds: 60_000)
        #expect(bench.handle(.woke) == ["send e 0 a"])
    }

    @Test("what a stream tells during a full download does not show that the daemon still has it")
    func streamDuringPass() {
        var bench = ReplicaBench()
        _ = bench.handle(.attached(isLive: true))
        #expect(bench.answer(initial: true).last == "open stream e 0")
        _ = bench.handle(.stream(.opened))
        _ = bench.set("a", "1")
        _ = bench.answer(cursor: 1)
        _ = bench.handle(.synchronize(waiter: 1))
        // The daemon was put back to what it was before "a", but the old stream is noticed late.
        #expect(bench.answer(epoch: "f", initial: true) == ["send none 0"])
        _ = bench.handle(.stream(.change(SyncChange(bench.replica.records[0], seq: 1))))
        _ = bench.answer(epoch: "f", initial: true)
        #expect(bench.request?.changes.map(\.key) == ["a"])
    }
}
