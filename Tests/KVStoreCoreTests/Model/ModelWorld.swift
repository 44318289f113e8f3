import Foundation
import StoreTestSupport

@testable import KVStoreCore

/// One state of everything: two replicas, the hub of the daemon or the database, and what is under way between them.
///
/// The replicas and the hub are the product's own values. Ghost variables record beside them what the
/// promises need to be judged without the code. Time stands still, so stamps differ by counter and
/// replica, and a back-off ends whenever the search decides.
struct ModelWorld {
    static let keys: [StoreKey] = ["a", "b"]
    static let daemonTime: Int64 = 1_000_000

    let bounds: ModelBounds
    var devices: [ModelDevice] = []
    var hub = Hub(epoch: "epoch")
    /// Requests that arrive at any time, and whose answers no device awaits.
    var strays: [SyncRequest] = []
    var writesLeft: Int
    var faultsLeft: Int
    var crashesLeft: Int
    var forgettingsLeft: Int
    /// Empty for a daemon with its own log; otherwise `hub` is what the database holds.
    var nodes: [ModelNode] = []
    var generations = ModelGenerations()
    var standby: ModelStandby?
    /// Transactions that the database executes at any time, and whose outcome no node awaits.
    var lateTransactions: [ModelNode.Transaction] = []
    var nodeFaultsLeft: Int
    var restartsLeft: Int
    var failoversLeft: Int
    /// Whether the devices' clocks have gone wrong.
    var isSkewed = false
    /// Ghost, by key: the greatest record that the daemon has accepted since it forgot the key.
    var greatest: [StoreRecord?] = [nil, nil]
    /// Ghost, by key: the stamp of the tombstone that the daemon forgot.
    var forgotten: [StoreStamp?] = [nil, nil]
    /// Ghost, by key: records that were acknowledged on a device when their tombstone was forgotten.
    var buried: [[StoreRecord]] = [[], []]
    /// Ghost, by key: the greatest record that a replica held at a failover, until the database has it or a greater
    /// one.
    var due: [StoreRecord?] = [nil, nil]
    /// Ghosts: the greatest generation and the last epoch that ever were, those that are lost included.
    var lastGeneration: UInt64 = 1
    var lastEpoch: UInt64 = 0
    /// Ghost: the last sequence number ever assigned in an epoch.
    var lastAssigned: [EpochID: UInt64] = [:]

    /// The world before the first write: everything is connected, and devices that are not fresh
    /// have completed their first download.
    init(_ bounds: ModelBounds) throws {
        self.bounds = bounds
        writesLeft = bounds.writes
        faultsLeft = bounds.faults
        crashesLeft = bounds.crashes
        forgettingsLeft = bounds.forgettings
        nodeFaultsLeft = bounds.nodeFaults
        restartsLeft = bounds.restarts
        failoversLeft = bounds.failovers
        if bounds.engine == .nodes { nodes = [ModelNode(), ModelNode()] }
        if bounds.isPopulated {
            let record = StoreRecord(
                key: Self.keys[0],
                stamp: StoreStamp(milliseconds: Self.daemonTime - 1_000, counter: 0, replica: ReplicaID(rawValue: 9)),
                content: .value(Data("earlier".utf8)))
            hub.load(SequencedRecord(record: record, sequence: 1))
            greatest[0] = record
        }
        for index in 0..<2 {
            let replica = Replica(id: ReplicaID(rawValue: UInt64(index) + 1), limits: StoreLimits(), seed: 0)
            devices.append(ModelDevice(number: index, replica: replica, disk: bounds.crashes > 0 ? replica : nil))
        }
        for index in 0..<2 where !bounds.isFresh[index] { try attach(index) }
        try settle()
        isSkewed = true
        for index in 0..<2 where bounds.isFresh[index] { try attach(index) }
    }

    /// Takes the steps that happen by themselves until nothing is under way.
    private mutating func settle() throws {
        var pending = steps().filter(\.isProgress)
        while let step = pending.first {
            try take(step)
            pending = steps().filter(\.isProgress)
        }
    }

    func now(_ index: Int) -> Instant {
        Instant(wall: Self.daemonTime + (isSkewed ? bounds.skew[index] : 0), monotonic: 0)
    }

    static func keyIndex(_ key: StoreKey) -> Int { key == keys[0] ? 0 : 1 }
}

extension ModelWorld {
    /// The order of records as `docs/protocol.md` defines it, written without the product's merge rule.
    static func isGreater(_ left: StoreRecord, _ right: StoreRecord) -> Bool {
        let (mine, theirs) = (left.stamp, right.stamp)
        if mine.milliseconds != theirs.milliseconds {
            return mine.milliseconds > theirs.milliseconds
        }
        if mine.counter != theirs.counter { return mine.counter > theirs.counter }
        if mine.replica != theirs.replica {
            return mine.replica.rawValue > theirs.replica.rawValue
        }
        switch (left.content, right.content) {
        case (.value(let mine), .value(let theirs)): return bytes(theirs, areLessThan: mine)
        case (.value, .tombstone): return true
        case (.tombstone, _): return false
        }
    }

    private static func bytes(_ left: Data, areLessThan right: Data) -> Bool {
        for (mine, theirs) in zip(left, right) where mine != theirs { return mine < theirs }
        return left.count < right.count
    }
}
