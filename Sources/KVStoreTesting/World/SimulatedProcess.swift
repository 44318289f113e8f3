import KVStore

/// One program on one device that has the device's replica open.
struct SimulatedProcess {
    let durable: DurableReplica
    let storage: SimulatedStorage
    /// Tells this run of the program from an earlier one: messages for that one are dropped.
    let incarnation: UInt64
    /// What its app believes is stored, from its own writes and from notifications.
    var believed: [String: Record.Content]
    var requestID: UInt64?
    var streamID: UInt64?
    var wakeID: UInt64 = 0
    var isLookDue = false
    var isFlushDue = false
}

/// A machine's replica directory for one account's store, with up to two programs that have it open.
struct SimulatedDevice {
    let disk: SimulatedDisk
    let store: StoreID
    /// Its clock minus the true time, in milliseconds.
    var clockError: Int64 = 0
    /// Nothing gets through in either direction.
    var isPartitioned = false
    /// What the device sends arrives, and nothing comes back.
    var isDeaf = false
    var isSignedIn = true
    var processes: [SimulatedProcess?]
    var backup: [UInt64: [UInt8]]?
    /// Every id that its replica has had.
    var replicaIDs: Set<ReplicaID> = []
    /// Records that the next program to open the replica must find, or newer ones of their keys.
    var mustHave: [Record] = []
    /// What the last successful sync covered, by key.
    var flushed: [String: Record] = [:]
    /// Whether bytes of its disk have been changed from outside.
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
