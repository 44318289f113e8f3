import Foundation
import KVStoreTesting
import Testing

@testable import KVStore

@Suite("What the daemon may acknowledge")
struct LedgerSyncTests {
    @Test("where one of two syncs has failed, the other one makes nothing known to live readers")
    func syncBesideFailure() throws {
        let store = StoreID(account: "one", name: "default")
        let storage = SimulatedDisk().storage()
        var options = HubLedger.Options()
        options.segmentByteCount = 1_024
        let ledger = try HubLedger(storage: storage, options: options, seed: 1)
        func apply(_ change: SyncChange) throws {
            _ = try ledger.apply(
                SyncRequest(replica: "r", epoch: nil, since: 0, changes: [change]), to: store,
                now: 1_000_000)
        }
        try apply(.other("a", "1"))
        let pending = try #require(try ledger.prepareSync())
        storage.aim(.fail(5), at: .sync)
        #expect(throws: HubLedger.Fault.self) {
            for number in 0..<20 { try apply(.other("b \(number)", "12345678")) }
        }
        #expect(pending.sync.perform() == nil)
        #expect(throws: LogError.self) { try ledger.finish(pending, failure: nil) }
        #expect(ledger.durableSequence(of: store) == 0)
    }
}
