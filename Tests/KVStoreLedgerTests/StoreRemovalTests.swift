import Foundation
import KVStoreCore
import KVStoreSimulation
import StoreTestSupport
import Testing

@testable import KVStoreLedger
@testable import KVStoreLog

@Suite("Removal of stores")
struct StoreRemovalTests {
    private let store = StoreID(account: "a", name: "s")
    private let now = CompactionBench.now

    private func sync(_ ledger: Ledger, since: SyncCursor? = nil, _ changes: StoreRecord...) throws -> SyncResponse {
        try ledger.apply(
            SyncRequest(replica: ReplicaID(rawValue: 1), since: since, changes: changes), to: store, now: now)
    }

    @Test("nothing of a removed store remains but one frame, also after a restart")
    func vanishes() throws {
        let disk = SimulatedDisk()
        let ledger = try CompactionBench.open(disk.storage(), seed: 1)
        for number in 0..<200 {
            _ = try sync(ledger, .other("k\(number)", "value", at: 1_000))
        }
        #expect(ledger.memoryByteCount > 0 && ledger.storeCount == 1)
        #expect(try ledger.remove(store))
        #expect(try !ledger.remove(store))
        try ledger.sync()
        let reopened = try CompactionBench.open(disk.copy().storage(), seed: 2)
        for ledger in [ledger, reopened] {
            #expect(ledger.storeCount == 0 && ledger.memoryByteCount == 0)
            #expect(ledger.storeCount(ofAccount: "a") == 0)
            #expect(ledger.allStores.isEmpty && ledger.stores(ofAccount: "a").isEmpty)
            #expect(ledger.hub(store) == nil && ledger.end(of: store) == nil)
            #expect(ledger.entry(of: "k1", in: store) == nil)
            let state = try #require(ledger.history(of: store)?.state)
            #expect(ledger.liveFrameByteCount == LedgerEntry.frameByteCount(state, of: store))
            #expect(ledger.stores[store]?.positions.isEmpty == true)
        }
        while ledger.log.segments.count > 1 {
            try ledger.compactStep()
            try ledger.sync()
        }
        let found = try CompactionBench.open(disk.copy().storage(), seed: 3)
        #expect(found.recovery.frameCount < 100)
        #expect(found.storeCount == 0)
        #expect(found.history(of: store)?.state == ledger.history(of: store)?.state)
    }

    @Test("a replica from before the removal starts over, below the horizon of its own history")
    func readers() throws {
        let ledger = try CompactionBench.open(SimulatedDisk().storage(), seed: 1)
        let before = try sync(ledger, .other("a", "1", at: 1_000), .other("b", "1", at: 1_001))
        _ = try ledger.remove(store)
        let empty = try sync(ledger, since: before.cursor)
        #expect(empty.isInitial && empty.changes.isEmpty && !empty.hasMore)
        #expect(empty.horizon > before.cursor.sequence)
        #expect(empty.lineage.contains { $0.epoch == before.cursor.epoch && $0.sequence >= before.cursor.sequence })
        #expect(empty.cursor.epoch != before.cursor.epoch)
        #expect(ledger.storeCount == 0)

        let again = try sync(ledger, since: empty.cursor, .other("c", "1", at: 1_002))
        #expect(!again.isInitial && again.cursor.sequence == empty.cursor.sequence + 1)
        #expect(again.cursor.epoch != empty.cursor.epoch)
        #expect(ledger.storeCount == 1 && ledger.hub(store)?.keyCount == 1)
        let late = try sync(ledger, since: before.cursor)
        #expect(late.isInitial && late.changes.map(\.record.key) == ["c"])
        #expect(late.horizon > before.cursor.sequence)
        #expect(late.lineage.map(\.epoch).contains(before.cursor.epoch))
    }

    @Test("streams of a removed store end, and one that begins then ends when it is created again")
    func streams() throws {
        let ledger = try CompactionBench.open(SimulatedDisk().storage(), seed: 1)
        let before = try sync(ledger, .other("a", "1", at: 1_000)).cursor
        try ledger.sync()
        _ = ledger.takeAdvanced()
        _ = try ledger.remove(store)
        #expect(ledger.takeAdvanced().isEmpty)
        try ledger.sync()
        #expect(ledger.takeAdvanced() == [store])
        let removed = try #require(ledger.history(of: store))
        #expect(removed.endsStream(at: before) && !removed.endsStream(at: removed.end))
        _ = try sync(ledger, .other("a", "2", at: 1_001))
        #expect(ledger.history(of: store)?.endsStream(at: removed.end) == true)
    }

    @Test("beyond the limit an account's oldest removals are forgotten, and no other account's")
    func bounded() throws {
        var options = Ledger.Options()
        options.removalCount = 3
        let disk = SimulatedDisk()
        let ledger = try Ledger(storage: disk.storage(), options: options, seed: 1)
        let ids = (0..<6).map { StoreID(account: "a", name: "s\($0)") }
        let other = StoreID(account: "b", name: "s")
        for id in [other] + ids {
            _ = try ledger.accept([.other("k", "1", at: 1_000)], to: id, now: now)
            _ = try ledger.remove(id)
        }
        #expect(ids.map { ledger.history(of: $0) != nil } == [false, false, false, true, true, true])
        #expect(ledger.history(of: other) != nil)
        let states = [other, ids[3], ids[4], ids[5]].compactMap { ledger.stores[$0] }
        #expect(
            ledger.liveFrameByteCount == states.reduce(0) { $0 + LedgerEntry.frameByteCount($1.hub.state, of: $1.id) })
    }

    @Test("the last removal of a store counts, also after a restart")
    func order() throws {
        var options = Ledger.Options()
        options.removalCount = 2
        let disk = SimulatedDisk()
        let ids = (0..<4).map { StoreID(account: "a", name: "s\($0)") }
        func remove(_ index: Int, from ledger: Ledger) throws {
            _ = try ledger.accept([.other("k", "1", at: 1_000)], to: ids[index], now: now)
            _ = try ledger.remove(ids[index])
            try ledger.sync()
        }
        let ledger = try Ledger(storage: disk.storage(), options: options, seed: 1)
        for index in [0, 1, 0, 2] { try remove(index, from: ledger) }
        #expect(ids.map { ledger.history(of: $0) != nil } == [true, false, true, false])
        let reopened = try Ledger(storage: disk.copy().storage(), options: options, seed: 2)
        try remove(3, from: reopened)
        #expect(ids.map { reopened.history(of: $0) != nil } == [false, false, true, true])
    }

    @Test("accounts that are not isolated share the limit, and take no memory once they are gone")
    func shared() throws {
        var options = Ledger.Options()
        options.removalCount = 3
        options.isolatesAccounts = false
        let ledger = try Ledger(storage: SimulatedDisk().storage(), options: options, seed: 1)
        var epochs: Set<EpochID> = []
        for number in 0..<200 {
            // An account that was forgotten gets other ids when it comes back.
            let id = StoreID(account: "a\(number % 100)", name: "s")
            _ = try ledger.accept([.other("k", "1", at: 1_000)], to: id, now: now)
            epochs.insert(try #require(ledger.end(of: id)).epoch)
            _ = try ledger.remove(id)
            #expect(ledger.stores.count <= 3 && ledger.storesByAccount.isEmpty)
        }
        #expect(epochs.count == 200 && ledger.removals.count == 1)
    }

    @Test("a removal is there after a restart wherever it was synced, and never half of one", arguments: 0..<4)
    func everyStep(_: Int) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var bench = try CompactionBench(SimulatedDisk(), seed: seed)
        var synced = CompactionBench.Facts(bench.ledger)
        var removals = 0
        for step in 0..<200 {
            let place: Comment = "seed \(seed), step \(step)"
            try bench.write()
            if Int.random(in: 0..<6, using: &bench.random) == 0 {
                removals += try bench.remove() ? 1 : 0
            }
            if Int.random(in: 0..<2, using: &bench.random) == 0 {
                try bench.ledger.sync()
                synced = CompactionBench.Facts(bench.ledger)
                #expect(try CompactionBench.found(on: bench.storage.disk) == synced, place)
            }
            try bench.ledger.compactStep()
            let left = bench.storage.disk.afterPowerFailure(using: &bench.random)
            let found = try CompactionBench.found(on: left)
            for (id, state) in synced.states {
                // Everything synced is there, or a later removal is.
                let present = try #require(found.histories[id], place)
                #expect(present.sequence >= state.sequence, place)
                for (key, entry) in synced.entries[id] ?? [:] {
                    let sequence = found.entries[id]?[key]?.sequence ?? present.horizon
                    #expect(sequence >= entry.sequence, place)
                }
            }
            for (id, state) in synced.histories where synced.states[id] == nil {
                // What a synced removal dropped does not return.
                let entries = found.entries[id] ?? [:]
                #expect(entries.values.allSatisfy { $0.sequence > state.sequence }, place)
            }
        }
        #expect(removals > 10, "seed \(seed)")
    }

    @Test("a ledger that recovers from a failed sync keeps its removals")
    func recovers() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var bench = try CompactionBench(SimulatedDisk(), seed: seed)
        for step in 0..<60 {
            for _ in 0..<4 { try bench.write() }
            try bench.ledger.sync()
            _ = try bench.remove()
            try bench.loseSync()
            let left = bench.storage.disk.afterPowerFailure(using: &bench.random)
            let found = try CompactionBench.found(on: left)
            // What the failed sync has left is cut, which begins an epoch: the states differ.
            #expect(found.entries == CompactionBench.Facts(bench.ledger).entries, "seed \(seed), step \(step)")
        }
    }
}

extension CompactionBench {
    /// Removes one of the stores, if it exists.
    fileprivate mutating func remove() throws -> Bool {
        try ledger.remove(StoreID(account: "a", name: "s\(Int.random(in: 0..<2, using: &random))"))
    }
}
