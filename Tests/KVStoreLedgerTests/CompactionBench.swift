import Foundation
import KVStoreCore
import KVStoreLog
import KVStoreSimulation
import StoreTestSupport
import Testing

@testable import KVStoreLedger

/// A ledger on a disk in memory, with small segments and smaller steps, and requests drawn from a seed.
struct CompactionBench {
    static let now: Int64 = 1_800_000_000_000
    static let stepByteCount = 512
    /// The largest frame of these requests.
    static let frameByteCount = 256

    /// The contents of a ledger.
    struct Facts: Equatable {
        var entries: [StoreID: [StoreKey: SequencedRecord]] = [:]
        var states: [StoreID: Hub.State] = [:]
        /// Those of removed stores included.
        var histories: [StoreID: Hub.State] = [:]

        init(_ ledger: Ledger) {
            for id in ledger.allStores {
                entries[id] = ledger.hub(id)?.entries
                states[id] = ledger.hub(id)?.state
            }
            histories = ledger.stores.mapValues(\.hub.state)
        }
    }

    let storage: SimulatedStorage
    let ledger: Ledger
    var random: SplitMix64
    /// Those that `write` draws from.
    var accounts = ["a"]
    private var counter: UInt32

    init(_ disk: SimulatedDisk, seed: UInt64) throws {
        storage = disk.storage()
        let ledger = try Self.open(storage, seed: seed)
        self.ledger = ledger
        random = SplitMix64(seed: seed)
        counter = UInt32(ledger.allStores.reduce(0) { $0 + (ledger.hub($1)?.sequence ?? 0) })
    }

    static func open(_ storage: any LogStorage, seed: UInt64) throws(LogError) -> Ledger {
        var options = Ledger.Options()
        options.segmentByteCount = 4_096
        options.compactionByteCount = stepByteCount
        return try Ledger(storage: storage, options: options, seed: seed)
    }

    /// What a process that starts now finds.
    static func found(on disk: SimulatedDisk) throws(LogError) -> Facts {
        Facts(try open(disk.copy().storage(), seed: 99))
    }

    /// Writes until a sync fails and loses what it was to make durable, and recovers.
    mutating func loseSync() throws {
        storage.aim(.losePages, at: .sync)
        #expect(throws: (any Error).self) {
            while true {
                try write()
                try ledger.sync()
            }
        }
        try ledger.recover()
    }

    /// One request of some changes to few keys, so that most frames are soon superseded.
    mutating func write() throws {
        let id = StoreID(
            account: accounts.randomElement(using: &random)!, name: "s\(Int.random(in: 0..<2, using: &random))")
        var changes: [StoreRecord] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            counter += 1
            let stamp = StoreStamp(milliseconds: Self.now, counter: counter, replica: ReplicaID(rawValue: 1))
            let isRemoved = Int.random(in: 0..<5, using: &random) == 0
            let value = Data(count: Int.random(in: 1...90, using: &random))
            changes.append(
                StoreRecord(
                    key: "key \(Int.random(in: 0..<25, using: &random))", stamp: stamp,
                    content: isRemoved ? .tombstone : .value(value)))
        }
        let answer = try ledger.apply(
            SyncRequest(replica: ReplicaID(rawValue: 1), since: nil, changes: changes), to: id, now: Self.now)
        #expect(answer.rejections.isEmpty)
    }

    /// Forgets all tombstones.
    func forget() throws {
        for id in ledger.allStores {
            try ledger.collectTombstones(of: id, now: Self.now + WireLimits.tombstoneMilliseconds + 1)
        }
    }
}
