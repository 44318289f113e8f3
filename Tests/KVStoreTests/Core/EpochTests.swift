import Testing

@testable import KVStore

@Suite("Epochs")
struct EpochTests {
    @Test("an epoch that the present one grew out of goes on; what lies beyond its end does not")
    func lineage() {
        var hub = Hub(epoch: "first")
        hub.load(
            epochs: [Hub.Epoch(id: "first", start: 0), Hub.Epoch(id: "second", start: 5)],
            sequence: 8, horizon: 0, clockMilliseconds: 0)
        #expect(hub.epoch == "second")
        #expect(!hub.startsOver(epoch: "first", since: 5))
        #expect(hub.startsOver(epoch: "first", since: 6))
        #expect(!hub.startsOver(epoch: "second", since: 8))
        #expect(hub.startsOver(epoch: "second", since: 9))
        #expect(hub.startsOver(epoch: "third", since: 0))
        #expect(hub.endsStream(epoch: "first", since: 5))
        #expect(!hub.endsStream(epoch: "second", since: 5))
        #expect([5, 6, 8].map { hub.epoch(at: $0) } == ["first", "second", "second"])
    }

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

    @Test("after a start the first change begins an epoch, and a restart without changes none")
    func begins() throws {
        let disk = MemoryDisk()
        func ledger(_ seed: UInt64) throws -> HubLedger {
            try HubLedger(storage: MemoryLogStorage(disk), seed: seed)
        }
        let store = StoreID(account: "a", name: "s")
        func write(_ key: String, _ ledger: HubLedger) throws -> SyncResponse {
            try ledger.apply(
                SyncRequest(
                    replica: "1", epoch: ledger.hub(store)?.epoch,
                    since: ledger.hub(store)?.sequence ?? 0,
                    changes: [.other(key, "1", at: 1_000)]),
                to: store, now: 2_000)
        }
        var epochs: [String] = []
        for number in 0..<40 {
            var opened = try ledger(UInt64(2 * number))
            try opened.close()
            opened = try ledger(UInt64(2 * number + 1))
            let before = opened.hub(store)?.epoch
            #expect(before == epochs.last)
            let answer = try write("\(number)", opened)
            #expect(answer.epoch != before)
            #expect(try write("x\(number)", opened).epoch == answer.epoch)
            epochs.append(answer.epoch)
            try opened.close()
        }
        let hub = try #require(try ledger(99).hub(store))
        #expect(hub.epochs.map(\.id) == epochs.suffix(32))
        #expect(hub.epochs.last?.start == 78)
    }

    @Test(
        "numbers that an older copy of the files gives again are not taken for those given before")
    func restoredCopy() throws {
        let disk = MemoryDisk()
        let store = StoreID(account: "a", name: "s")
        func sync(_ ledger: HubLedger, _ epoch: String?, _ since: UInt64, _ keys: String...) throws
            -> SyncResponse
        {
            try ledger.apply(
                SyncRequest(
                    replica: "1", epoch: epoch, since: since,
                    changes: keys.map { .other($0, "1", at: 1_000) }),
                to: store, now: 2_000)
        }
        let first = try HubLedger(storage: MemoryLogStorage(disk), seed: 1)
        let started = try sync(first, nil, 0, "a")
        try first.close()
        let backup = disk.copy()
        let second = try HubLedger(storage: MemoryLogStorage(disk), seed: 2)
        let seen = try sync(second, started.epoch, 1, "lost 1", "lost 2")
        #expect(!seen.initial && seen.cursor == 3)

        let restored = try HubLedger(storage: MemoryLogStorage(backup), seed: 3)
        let other = try sync(restored, started.epoch, 1, "new 1", "new 2", "new 3")
        #expect(!other.initial && other.cursor == 4)
        let answer = try sync(restored, seen.epoch, seen.cursor)
        #expect(answer.initial)
        #expect(answer.changes.map(\.key) == ["a", "new 1", "new 2", "new 3"])
        #expect(answer.lineage?.contains { $0.epoch == seen.epoch } == false)
    }

    @Test("what was cut from the end of the log ends its history")
    func cut() throws {
        let disk = MemoryDisk()
        let store = StoreID(account: "a", name: "s")
        let first = try HubLedger(storage: MemoryLogStorage(disk), seed: 1)
        let answer = try first.apply(
            SyncRequest(
                replica: "1", epoch: nil, since: 0, changes: [.other("a", "1", at: 1_000)]),
            to: store, now: 2_000)
        try first.close()
        let end = disk.bytes(of: 1).lastIndex { $0 != 0 }!
        disk.damage(1, at: end) { $0 ^ 1 }
        let second = try HubLedger(storage: MemoryLogStorage(disk), seed: 2)
        let hub = try #require(second.hub(store))
        #expect(hub.entries.isEmpty)
        #expect(hub.startsOver(epoch: answer.epoch, since: 0))
        #expect(hub.lineage.map(\.epoch) == [answer.epoch, hub.epoch])
    }

    @Test(
        "a stamp that follows one taken in while the clock was ahead is not refused, also after a restart"
    )
    func clockWasAhead() throws {
        let disk = MemoryDisk()
        let store = StoreID(account: "a", name: "s")
        func rejected(_ ledger: HubLedger, _ milliseconds: Int64, now: Int64) throws -> Int {
            try ledger.apply(
                SyncRequest(
                    replica: "1", epoch: nil, since: 0,
                    changes: [.other("k\(milliseconds)", nil, at: milliseconds)]),
                to: store, now: now
            ).rejected.count
        }
        let first = try HubLedger(storage: MemoryLogStorage(disk), seed: 1)
        #expect(try rejected(first, 900_000, now: 900_000) == 0)
        #expect(try rejected(first, 900_000, now: 1_000) == 0)
        #expect(try rejected(first, 900_001, now: 1_000) == 1)
        try first.collectTombstones(of: store, now: WireLimits.tombstoneMilliseconds + 1_000_000)
        #expect(first.hub(store)?.entries.isEmpty == true)
        try first.close()
        let second = try HubLedger(storage: MemoryLogStorage(disk), seed: 2)
        #expect(try rejected(second, 900_000, now: 1_000) == 0)
    }
}
