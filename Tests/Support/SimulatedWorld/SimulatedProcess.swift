import KVStore
import KVStoreCore
import KVStoreSimulation

/// One program on one device that has the device's replica open.
struct SimulatedProcess {
    let durable: DurableReplica
    let storage: SimulatedStorage
    /// Distinguishes this run of the program from earlier ones, whose messages are dropped.
    let incarnation: UInt64
    /// What its app believes is stored, from its own writes and from notifications.
    var believed: [StoreKey: StoreRecord.Content]
    /// The request and the stream that its replica has begun and not seen end.
    var requestID: UInt64?
    var streamID: UInt64?
    var isCatchUpScheduled = false
    var isFlushScheduled = false
}

/// A machine's directory for the store of one account, with up to two programs that have it open.
struct SimulatedDevice {
    let disk: SimulatedDisk
    let store: StoreID
    /// Its clock minus the true time, in milliseconds.
    var clockError: Int64 = 0
    var network = DeviceNetwork<World.Action>()
    var isSignedIn = true
    var processes: [SimulatedProcess?]
    var backup: [UInt64: [UInt8]]?
    /// Every id that its replica has had.
    var replicaIDs: Set<ReplicaID> = []
    /// Records that the next program to open the replica must find, or newer ones of the same keys.
    var mustHave: [StoreRecord] = []
    /// What the last successful sync covered, by key.
    var flushed: [StoreKey: StoreRecord] = [:]
    /// Whether bytes of its disk were damaged.
    var wasDamaged = false
    /// How often its directory was replaced by another.
    var replacementCount = 0

    /// A program has ended, and the next one must find what it knew, except for memory that was ahead of the log.
    mutating func programEnds(_ durable: DurableReplica) {
        programEnds(durable.replica, isStale: durable.isStale)
    }

    mutating func programEnds(_ replica: Replica, isStale: Bool) {
        mustHave = isStale ? Array(flushed.values) : replica.firmRecords
    }

    /// Its directory now holds other files.
    mutating func wasReplaced() {
        mustHave = []
        flushed = [:]
        replacementCount += 1
    }
}
