import KVStore

/// The daemon: the product's ledger on a simulated disk, with answers that wait for a sync.
struct SimulatedDaemon {
    struct Waiting {
        var address: World.ProcessAddress
        var requestID: UInt64
        var response: SyncResponse
    }

    struct Stream {
        var address: World.ProcessAddress
        var streamID: UInt64
        var epoch: String
        var cursor: UInt64
        /// Events of one stream arrive in order.
        var lastDelivery: Int64
        /// A slow reader is looked after once in a while only.
        var isSlow: Bool
        var isLookDue = false
        var isBroken = false
    }

    let disk: SimulatedDisk
    var storage: SimulatedStorage
    var ledger: HubLedger?
    var waiting: [Waiting] = []
    var streams: [Stream] = []
    var isSyncDue = false
    var clockError: Int64 = 0
    var backup: [UInt64: [UInt8]]?
    /// Whether bytes of its disk were changed from outside since it was last whole.
    var wasDamaged = false

    init(disk: SimulatedDisk) {
        self.disk = disk
        storage = disk.storage()
    }

    func hub(_ store: StoreID) -> Hub? { ledger?.hub(store) }
}
