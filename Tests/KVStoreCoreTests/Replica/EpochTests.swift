import StoreTestSupport
import Testing

@testable import KVStoreCore

@Suite("Epochs of a replica")
struct EpochTests {
    @Test("an answer that continues in another epoch moves epoch and cursor together")
    func continuation() {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        _ = bench.answer(epoch: "f", cursor: 3)
        #expect(bench.replica.state.cursor == SyncCursor(epoch: "f", sequence: 3))
        #expect(bench.pendingKeys.isEmpty)
    }

    @Test("a replica removes what the daemon lacks only if it may have missed the removal")
    func startingOver() {
        let cases: [(end: UInt64, horizon: UInt64, isSentAgain: Bool)] = [
            (4, 5, false), (4, 4, true), (3, 5, true),
        ]
        for (end, horizon, isSentAgain) in cases {
            var bench = ReplicaBench.joined()
            _ = bench.set("a", "1")
            _ = bench.answer(cursor: 4)
            _ = bench.set("b", "2")
            _ = bench.answer(epoch: "f", cursor: 9, isInitial: true)
            let lineage = [SyncCursor(epoch: "e", sequence: end), SyncCursor(epoch: "f", sequence: 9)]
            _ = bench.answer(epoch: "f", cursor: 9, isInitial: true, horizon: horizon, lineage: lineage)
            #expect((bench.values["a"] == "1") == isSentAgain)
            #expect(bench.pendingKeys.contains("a") == isSentAgain)
        }
    }

    @Test("a tombstone with the stamp of the value that it removed gives way to the value")
    func removalOfOwnStamp() throws {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        let stamp = try #require(bench.records.first).stamp
        _ = bench.answer(cursor: 4)
        _ = bench.synchronize()
        _ = bench.answer(epoch: "f", cursor: 1, isInitial: true)
        // Another replica has removed the key, and the daemon has lost that since.
        let removed = SequencedRecord(record: StoreRecord(key: "a", stamp: stamp, content: .tombstone), sequence: 1)
        _ = bench.answer(epoch: "f", cursor: 1, isInitial: true, [removed])
        #expect(bench.values == ["a": "1"])
        #expect(bench.request?.changes.map(\.key) == ["a"])
    }

    @Test("a replica that has lost its cursor removes keys only if the daemon has a horizon")
    func afterDamage() {
        for horizon in [0, 1] as [UInt64] {
            var bench = ReplicaBench.joined()
            _ = bench.set("a", "1")
            _ = bench.answer(cursor: 4)
            bench.replica.forgetProgress(isStateLost: false)
            _ = bench.synchronize()
            _ = bench.answer(epoch: "f", cursor: 1, isInitial: true, horizon: horizon)
            #expect((bench.values["a"] == "1") == (horizon == 0))
            #expect((bench.request?.changes.map(\.key) == ["a"]) == (horizon == 0))
        }
    }

    @Test("an answer that another process has overtaken leaves epoch and cursor unchanged")
    func overtaken() {
        var bench = ReplicaBench.joined()
        _ = bench.synchronize()
        var state = bench.replica.currentState
        state.cursor = SyncCursor(epoch: "f", sequence: 21)
        _ = bench.replica.replay(.state(state))
        _ = bench.answer(epoch: "e", cursor: 19)
        #expect(bench.replica.state.cursor == SyncCursor(epoch: "f", sequence: 21))
    }

    @Test("a replica ignores a stream of an epoch that it has left")
    func earlierStream() {
        var bench = ReplicaBench()
        _ = bench.handle(.attached(isLive: true))
        #expect(bench.answer(cursor: 4, isInitial: true) == ["state e 4", "open stream e 4"])
        var state = bench.replica.currentState
        state.cursor = SyncCursor(epoch: "f", sequence: 21)
        _ = bench.replica.replay(.state(state))
        _ = bench.receive(.change(.other("a", "1", sequence: 30)))
        #expect(bench.replica.state.cursor == SyncCursor(epoch: "f", sequence: 21))
        #expect(bench.values.isEmpty)
    }

    @Test("a replica ignores an answer to a request from an epoch that it has left")
    func earlierAnswer() {
        var bench = ReplicaBench.joined()
        #expect(bench.synchronize() == ["send e 0"])
        var state = bench.replica.currentState
        state.cursor = SyncCursor(epoch: "f", sequence: 21)
        _ = bench.replica.replay(.state(state))
        #expect(bench.answer(cursor: 30, [.other("a", "1", sequence: 30)]) == ["send f 21"])
        #expect(bench.replica.state.cursor == SyncCursor(epoch: "f", sequence: 21))
        #expect(bench.values.isEmpty)
    }

    @Test("a clock confirmed by a lost history does not keep keys from being sent")
    func clockAfterLoss() {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        _ = bench.answer(cursor: 1, [.other("b", "1", at: 900_000_000)])
        _ = bench.set("a", "2")
        _ = bench.answer(epoch: "f", cursor: 0, isInitial: true)
        _ = bench.answer(epoch: "f", cursor: 0, isInitial: true)
        #expect(bench.pendingKeys == ["a", "b"])
        for _ in 0..<2 {
            let limit = bench.now.wall + WireLimits.futureMilliseconds
            let late = bench.clockRejections().filter { $0.stamp.milliseconds > limit }
            _ = bench.answer(epoch: "f", cursor: 2, rejections: late)
        }
        #expect(bench.pendingKeys.isEmpty)
        #expect(bench.values == ["a": "2", "b": "1"])
    }

    @Test("a limit below a confirmed reading shows that the daemon has lost that history")
    func limitBelowConfirmed() throws {
        var bench = ReplicaBench.joined()
        _ = bench.synchronize()
        _ = bench.answer(cursor: 1, [.other("b", "1", at: 900_000_000)])
        _ = bench.set("a", "1")
        let rejected = try #require(bench.request?.changes.first)
        #expect(rejected.stamp.milliseconds == 900_000_000)
        _ = bench.answer(cursor: 1, rejections: bench.rejections(.clock(limit: 1_060_000, present: nil)))
        let reissued = try #require(bench.request?.changes.first)
        #expect(reissued.stamp.milliseconds == 1_000_000)
    }

    @Test("changes accepted without a cursor that covers them stay pending")
    func uncoveredAcknowledgement() {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        // The daemon accepted it and makes the replica start over. Then an older backup is restored.
        #expect(bench.answer(epoch: "f", cursor: 9, isInitial: true) == ["send none"])
        #expect(bench.pendingKeys == ["a"])
        _ = bench.fail(.unreachable("restored"))
        bench.advance(milliseconds: 60_000)
        #expect(bench.handle(.woke) == ["send e 0 a"])
    }

    @Test("a full download ends the stream, whose events do not prove what the daemon still holds")
    func streamDuringDownload() {
        var bench = ReplicaBench()
        _ = bench.handle(.attached(isLive: true))
        #expect(bench.answer(isInitial: true).last == "open stream e 0")
        _ = bench.receive(.opened)
        _ = bench.set("a", "1")
        _ = bench.answer(cursor: 1)
        _ = bench.synchronize()
        // A backup from before "a" was restored, but the old stream still delivers an event.
        #expect(bench.answer(epoch: "f", isInitial: true) == ["close stream", "send none"])
        let own = SequencedRecord(record: bench.records[0], sequence: 1)
        _ = bench.receive(.change(own))
        _ = bench.answer(epoch: "f", isInitial: true)
        #expect(bench.request?.changes.map(\.key) == ["a"])
    }
}
