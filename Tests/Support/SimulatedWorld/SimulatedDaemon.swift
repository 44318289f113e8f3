import KVStoreCore
import KVStoreLedger
import KVStoreSimulation

/// The daemon: the production ledger on a simulated disk, with answers that wait for a sync.
struct SimulatedDaemon {
    struct Waiting {
        var address: World.ProcessAddress
        var requestID: UInt64
        var response: SyncResponse
    }

    struct Stream {
        var address: World.ProcessAddress
        var streamID: UInt64
        var cursor: SyncCursor
        /// Events of one stream arrive in order.
        var lastDelivery: Int64
        /// A slow reader is fed only once in a while.
        var isSlow: Bool
        var isFeedScheduled = false
        var isBroken = false
    }

    let disk: SimulatedDisk
    var storage: SimulatedStorage
    var ledger: Ledger?
    var waiting: [Waiting] = []
    /// Requests that wait for the log's next segment.
    var parked: [(request: SyncRequest, id: UInt64, address: World.ProcessAddress)] = []
    var streams: [Stream] = []
    var isSyncDue = false
    var clockError: Int64 = 0
    /// The memory that each account may take; empty for no limit.
    var byteLimits: [String: Int] = [:]
    var backup: [UInt64: [UInt8]]?
    /// Whether bytes of its disk were damaged since it was last intact.
    var wasDamaged = false

    init(disk: SimulatedDisk) {
        self.disk = disk
        storage = disk.storage()
    }

    func hub(_ store: StoreID) -> Hub? { ledger?.hub(store) }
}
