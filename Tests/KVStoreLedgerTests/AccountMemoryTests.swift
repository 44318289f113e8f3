import Foundation
import KVStoreCore
import KVStoreSimulation
import StoreTestSupport
import Testing

@testable import KVStoreLedger
@testable import KVStoreLog

@Suite("Memory of an account")
struct AccountMemoryTests {
    private let now = CompactionBench.now
    private let mine = StoreID(account: "mine", name: "s")
    private let theirs = StoreID(account: "theirs", name: "s")

    private func recount(_ ledger: Ledger) -> [String: AccountTotals] {
        ledger.allStores.reduce(into: [:]) { totals, id in
            let entries = ledger.hub(id)?.entries.values.map(\.record) ?? []
            totals[id.account, default: AccountTotals()].storeCount += 1
            totals[id.account]?.keyCount += entries.count { !$0.content.isTombstone }
            totals[id.account]?.memoryByteCount += entries.reduce(0) {
                $0 + Ledger.memoryByteCount(of: $1)
            }
        }
    }

    @Test("it is what a recount gives, after whatever has changed, moved, failed or restarted", arguments: 0..<4)
    func recounted(_: Int) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var bench = try CompactionBench(SimulatedDisk(), seed: seed)
        bench.accounts = ["a", "b", "c"]
        for step in 0..<300 {
            let place: Comment = "seed \(seed), step \(step)"
            switch Int.random(in: 0..<20, using: &bench.random) {
            case 0:
                for id in bench.ledger.allStores.prefix(1) { _ = try bench.ledger.remove(id) }
            case 1: try bench.forget()
            case 2:
                bench.storage.aim(.losePages, at: .sync)
                #expect(throws: (any Error).self, place) {
                    while true {
                        try bench.write()
                        try bench.ledger.sync()
                    }
                }
                try bench.ledger.recover()
            case 3...8: try bench.ledger.compactStep()
            default: try bench.write()
            }
            let totals = recount(bench.ledger)
            #expect(bench.ledger.accountTotals == totals, place)
            #expect(bench.ledger.memoryByteCount == totals.values.reduce(0) { $0 + $1.memoryByteCount }, place)
            guard step.isMultiple(of: 20) else { continue }
            try bench.ledger.sync()
            let left = bench.storage.disk.afterPowerFailure(using: &bench.random)
            let reopened = try CompactionBench.open(left.copy().storage(), seed: 9)
            #expect(reopened.accountTotals == recount(reopened), place)
            #expect(try Ledger.inspect(left.storage()).accountTotals == recount(reopened), place)
        }
    }

    @Test("a change that would exceed the account's limit changes nothing, others are accepted")
    func limited() throws {
        let disk = SimulatedDisk()
        let ledger = try Ledger(storage: disk.storage(), seed: 1)
        let limit = Ledger.memoryByteCount(of: .other("a", "1234567890"))
        func accept(_ record: StoreRecord, to id: StoreID, limit: Int?) throws {
            _ = try ledger.accept([record], to: id, now: now, limits: Ledger.AccountLimits(byteCount: limit))
        }
        try accept(.other("a", "12345", at: 1_000), to: mine, limit: limit)
        let before = ledger.accountTotals
        #expect(throws: LogError.accountFull(limit: limit)) {
            try accept(.other("b", "", at: 1_001), to: mine, limit: limit)
        }
        #expect(throws: LogError.accountFull(limit: limit)) {
            try accept(.other("b", "", at: 1_001), to: StoreID(account: "mine", name: "new"), limit: limit)
        }
        #expect(ledger.accountTotals == before)
        try accept(.other("b", "", at: 1_001), to: theirs, limit: limit)
        try accept(.other("a", "1234567890", at: 1_002), to: mine, limit: limit)
        // A limit that was lowered: what does not grow is accepted.
        try accept(.other("a", "0987654321", at: 1_003), to: mine, limit: 1)
        try accept(.other("a", nil, at: 1_004), to: mine, limit: 1)
        #expect(throws: LogError.accountFull(limit: 1)) {
            try accept(.other("a", "1", at: 1_005), to: mine, limit: 1)
        }
        _ = try ledger.remove(mine)
        try accept(.other("a", "1234567890", at: 1_006), to: mine, limit: limit)
    }

    @Test("the ids of an account's epochs do not depend on other accounts")
    func epochs() throws {
        func epochs(besides count: Int) throws -> [EpochID?] {
            let ledger = try Ledger(storage: SimulatedDisk().storage(), seed: 5)
            return try (0..<4).map { number in
                for _ in 0..<count {
                    _ = try ledger.accept([.other("k", "v")], to: theirs, now: now)
                    _ = try ledger.remove(theirs)
                }
                let id = StoreID(account: "mine", name: "s\(number)")
                _ = try ledger.accept([.other("k", "v")], to: id, now: now)
                return ledger.end(of: id)?.epoch
            }
        }
        let alone = try epochs(besides: 0)
        #expect(try epochs(besides: 3) == alone)
        #expect(Set(alone).count == 4)
    }
}
