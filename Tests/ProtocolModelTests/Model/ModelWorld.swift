import Foundation

@testable import KVStore

/// One state of everything: two replicas, the daemon's hub, and what is under way between them.
///
/// The replicas and the hub are the product's own values. Beside them stand ghosts: what a reader
/// of the promises, not of the code, would note down to judge what the code does. Time stands
/// still, so that stamps differ by counter and replica, and a wait is over whenever the search
/// says so.
struct ModelWorld {
    struct Device {
        var replica: Replica
        /// What a program that starts now would find; nil where no crash can come any more.
        var disk: Replica?
        var flight = Flight.none
        var stream = Stream.none
        /// Ghost, by key: the last write made after the first download, while the daemon has not
        /// had it or a greater one.
        var owed: [Record?] = [nil, nil]
        /// Ghost, by key: the last content written before the first download, while it is about.
        var provisional: [Record.Content?] = [nil, nil]
        /// Ghost: the cursor with which the first download was complete.
        var firstCursor: UInt64?
    }

    enum Flight: Equatable {
        case none
        case request(SyncRequest)
        case answer(SyncResponse)
    }

    enum Stream: Equatable {
        case none
        case asked(since: UInt64, epoch: String)
        /// The daemon has told everything up to `place`; `queue` has not been heard yet.
        case open(place: UInt64, queue: [SyncEvent])
    }

    static let keys = ["a", "b"]
    static let daemonTime: Int64 = 1_000_000

    let bounds: ModelBounds
    var devices: [Device] = []
    var hub = Hub(epoch: "epoch")
    /// Requests that arrive some time, and whose answers nobody waits for.
    var strays: [SyncRequest] = []
    var writesLeft: Int
    var faultsLeft: Int
    var crashesLeft: Int
    var forgettingsLeft: Int
    /// Whether the devices' clocks have gone wrong.
    var isSkewed = false
    /// Ghost, by key: the greatest record that the daemon took, since it forgot the key.
    var greatest: [Record?] = [nil, nil]
    /// Ghost, by key: the stamp of the removal that the daemon forgot.
    var forgotten: [Stamp?] = [nil, nil]
    /// Ghost, by key: records that were settled on a device when their removal was forgotten.
    var buried: [[Record]] = [[], []]

    /// The world before the first write: everything is connected, and devices that are not fresh
    /// have done their first download.
    init(_ bounds: ModelBounds) throws {
        self.bounds = bounds
        writesLeft = bounds.writes
        faultsLeft = bounds.faults
        crashesLeft = bounds.crashes
        forgettingsLeft = bounds.forgettings
        if bounds.isPopulated {
            let record = Record(
                key: Self.keys[0],
                stamp: Stamp(
                    milliseconds: Self.daemonTime - 1_000, counter: 0,
                    replica: ReplicaID(rawValue: 9)),
                content: .value(Data("earlier".utf8)))
            hub.load(Hub.Entry(record: record, sequence: 1))
            greatest[0] = record
        }
        for index in 0..<2 {
            let replica = Replica(
                id: ReplicaID(rawValue: UInt64(index) + 1), limits: StoreLimits(), seed: 0)
            devices.append(Device(replica: replica, disk: bounds.crashes > 0 ? replica : nil))
        }
        for index in 0..<2 where !bounds.isFresh[index] { try attach(index) }
        try settle()
        isSkewed = true
        for index in 0..<2 where bounds.isFresh[index] { try attach(index) }
    }

    /// Takes what comes by itself until nothing is under way.
    private mutating func settle() throws {
        var coming = steps().filter(\.isProgress)
        while let step = coming.first {
            try take(step)
            coming = steps().filter(\.isProgress)
        }
    }

    func now(_ index: Int) -> Moment {
        Moment(wall: Self.daemonTime + (isSkewed ? bounds.skew[index] : 0), monotonic: 0)
    }

    static func keyIndex(_ key: String) -> Int { key == keys[0] ? 0 : 1 }
}

extension ModelWorld {
    /// The order of records as `docs/protocol.md` has it, written without the product's merge
    /// rule.
    static func isGreater(_ left: Record, _ right: Record) -> Bool {
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
