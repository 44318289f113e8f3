import KVStore

/// The daemon: the product's ledger on a simulated disk, with answers that wait for a sync.
struct SimulatedDaemon {
    struct Waiting {
        var device: Int
        var process: Int
        var incarnation: UInt64
        var requestID: UInt64
        var response: SyncResponse
    }

    struct Stream {
        var device: Int
        var process: Int
        var incarnation: UInt64
        var streamID: UInt64
        var epoch: String
        var cursor: UInt64
        /// Events of one stream arrive in order.
        var lastDelivery: Int64
    }

    let disk: SimulatedDisk
    var ledger: HubLedger?
    var waiting: [Waiting] = []
    var streams: [Stream] = []
    var isSyncDue = false
    var clockError: Int64 = 0
    var backup: [UInt64: [UInt8]]?

    static let store = StoreID(account: "default", name: "default")

    var hub: Hub? { ledger?.hub(Self.store) }
}
