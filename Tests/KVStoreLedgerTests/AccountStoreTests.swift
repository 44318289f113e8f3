import KVStoreCore
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
}
