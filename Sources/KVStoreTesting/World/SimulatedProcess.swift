import KVStore

/// One program on one device that has the device's replica open.
struct SimulatedProcess {
    let durable: DurableReplica
    /// Tells this run of the program from an earlier one: messages for that one are dropped.
    let incarnation: UInt64
    /// What its app believes is stored, from its own writes and from notifications.
    var believed: [String: Record.Content]
    var requestID: UInt64?
    var streamID: UInt64?
    var wakeID: UInt64 = 0
    var isFlushDue = false
}

/// A machine with a disk, a clock and up to two programs.
struct SimulatedDevice {
    let disk: SimulatedDisk
    /// What its clock is wrong by, in milliseconds.
    var clockError: Int64 = 0
    var isPartitioned = false
    var processes: [SimulatedProcess?]
    /// The greatest stamp given out, per replica id.
    var lastStamps: [ReplicaID: Stamp] = [:]
    /// Records that the next program to open the replica must find, or newer ones of their keys.
    var mustHave: [Record] = []
    /// What the last successful sync covered, by key.
    var flushed: [String: Record] = [:]
    /// Whether bytes of its disk have been changed from outside.
    var wasDamaged = false
}
