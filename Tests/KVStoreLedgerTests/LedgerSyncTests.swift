import Foundation
import KVStoreCore
import KVStoreLog
import KVStoreSimulation
import StoreTestSupport
import Testing

@testable import KVStoreLedger

@Suite("Syncs of a ledger")
struct LedgerSyncTests {
    @Test("a sync concurrent with a failed one shows nothing to live readers")
    func syncBesideFailure() throws {
        let store = StoreID(account: "one", name: "default")
        let storage = SimulatedDisk().storage()
        var options = Ledger.Options()
        options.segmentByteCount = 1_024
        let ledger = try Ledger(storage: storage, options: options, seed: 1)
        func apply(_ record: StoreRecord) throws {
            _ = try ledger.apply(
                SyncRequest(replica: ReplicaID(rawValue: 1), since: nil, changes: [record]), to: store, now: 1_000_000)
        }
        try apply(.other("a", "1"))
        let pending = try #require(try ledger.prepareSync())
        storage.aim(.fail(5), at: .sync)
        #expect(throws: LogError.self) {
            for number in 0..<20 { try apply(.other("b \(number)", "12345678")) }
        }
        #expect(pending.sync.perform() == nil)
        #expect(throws: LogError.self) { try ledger.finish(pending, failure: nil) }
        #expect(ledger.durableSequence(of: store) == 0)
    }
}
