import Foundation
import KVStoreTesting
import Testing

@testable import KVStore

/// A daemon's ledger on a disk in memory, with small segments and smaller steps, whose requests come from a seed.
struct CompactionBench {
    static let now: Int64 = 1_800_000_000_000
    static let stepByteCount = 512
    /// No frame of these requests is larger.
    static let frameByteCount = 256

    /// What a ledger says of its stores.
    struct Facts: Equatable {
        var entries: [StoreID: [String: Hub.Entry]] = [:]
        var states: [StoreID: HubEntry.State] = [:]

        init(_ ledger: HubLedger) {
            for id in ledger.allStores {
                entries[id] = ledger.hub(id)?.entries
                states[id] = ledger.hub(id).map(HubEntry.State.init)
            }
        }
    }

    let storage: SimulatedStorage
    let ledger: HubLedger
    var random: SplitMix64
    private var counter: UInt32

    init(_ disk: SimulatedDisk, seed: UInt64) throws {
        storage = disk.storage()
        let ledger = try Self.open(storage, seed: seed)
        self.ledger = ledger
        random = SplitMix64(seed: seed)
        counter = UInt32(ledger.allStores.reduce(0) { $0 + (ledger.hub($1)?.sequence ?? 0) })
    }

    static func open(_ storage: any LogStorage, seed: UInt64) throws(LogError) -> HubLedger {
        var options = HubLedger.Options()
        options.segmentByteCount = 4_096
        options.compactionByteCount = stepByteCount
        return try HubLedger(storage: storage, options: options, seed: seed)
    }

    /// What a process finds that is started now.
    static func found(on disk: SimulatedDisk) throws(LogError) -> Facts {
        Facts(try open(disk.copy().storage(), seed: 99))
    }

    /// One request of some changes to few keys, so that most frames soon do not count.
    mutating func write() throws {
        let id = StoreID(account: "a", name: "s\(Int.random(in: 0..<2, using: &random))")
        var changes: [SyncChange] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            counter += 1
            let stamp = Stamp(
                milliseconds: Self.now, counter: counter, replica: ReplicaID(rawValue: 1))
            let isRemoved = Int.random(in: 0..<5, using: &random) == 0
            let value = Data(count: Int.random(in: 1...90, using: &random))
            let record = Record(
                key: "key \(Int.random(in: 0..<25, using: &random))", stamp: stamp,
                content: isRemoved ? .tombstone : .value(value))
            changes.append(SyncChange(record))
        }
        let answer = try ledger.apply(
            SyncRequest(replica: "1", epoch: nil, since: 0, changes: changes), to: id,
            now: Self.now)
        #expect(answer.rejected.isEmpty)
    }

    /// Forgets the removals made so far.
    func forget() throws {
        for id in ledger.allStores {
            try ledger.collectTombstones(
                of: id, now: Self.now + WireLimits.tombstoneMilliseconds + 1)
        }
    }
}
