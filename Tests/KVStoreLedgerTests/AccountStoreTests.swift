import KVStoreCore
import KVStoreLog
import KVStoreSimulation
import StoreTestSupport
import Testing

@testable import KVStoreLedger

@Suite("The stores of an account")
struct AccountStoreTests {
    @Test("an account lists and counts its own stores, sorted, also after reopening")
    func stores() throws {
        let disk = SimulatedDisk()
        let mine = ["a", "b", "c"].map { StoreID(account: "mine", name: $0) }
        let others = StoreID(account: "others", name: "a")
        func expectStores(in ledger: Ledger) {
            #expect(ledger.stores(ofAccount: "mine") == mine)
            #expect(ledger.storeCount(ofAccount: "mine") == 3)
            #expect(ledger.storeCount(ofAccount: "others") == 1)
            #expect(ledger.stores(ofAccount: "nobody").isEmpty)
        }
        let first = try Ledger(storage: disk.storage(), seed: 1)
        for id in [mine[2], others, mine[0], mine[1], mine[0]] {
            _ = try first.accept([.other("key", "value")], to: id, now: 1_000_000)
        }
        expectStores(in: first)
        try first.sync()
        try first.close()
        expectStores(in: try Ledger(storage: disk.storage(), seed: 2))
    }

    @Test("an account with as many stores as it may have gets no other one, and reading a removed one creates none")
    func limited() throws {
        let ledger = try Ledger(storage: SimulatedDisk().storage(), seed: 1)
        let limits = Ledger.AccountLimits(storeCount: 2)
        let ids = ["a", "b", "c"].map { StoreID(account: "mine", name: $0) }
        func accept(to id: StoreID) throws {
            _ = try ledger.accept([.other("k", "v")], to: id, now: 1_000_000, limits: limits)
        }
        func read(_ id: StoreID) throws {
            _ = try ledger.apply(
                SyncRequest(replica: ReplicaID(rawValue: 1), since: nil), to: id, now: 1_000_000, limits: limits)
        }
        try accept(to: ids[0])
        try accept(to: ids[1])
        #expect(throws: LogError.tooManyStores(limit: 2)) { try accept(to: ids[2]) }
        #expect(throws: LogError.tooManyStores(limit: 2)) { try read(ids[2]) }
        #expect(ledger.stores(ofAccount: "mine") == Array(ids[..<2]) && ledger.history(of: ids[2]) == nil)
        try accept(to: StoreID(account: "others", name: "c"))
        #expect(try ledger.remove(ids[0]))
        try read(ids[0])
        try accept(to: ids[2])
        try read(ids[0])
        #expect(throws: LogError.tooManyStores(limit: 2)) { try accept(to: ids[0]) }
        #expect(ledger.stores(ofAccount: "mine") == Array(ids[1...]))
    }
}
