import KVStore

/// The daemon of a simulated cloud: the product's ledger on a simulated disk, and its live streams.
struct CloudHub {
    struct Stream {
        var driver: CloudDriver
        var id: UInt64
        var epoch: String
        var cursor: UInt64
        /// Events of one stream arrive in order.
        var lastArrival: Int64
    }

    let disk: SimulatedDisk
    private var storage: SimulatedStorage
    private(set) var ledger: HubLedger
    var streams: [Stream] = []
    var backup: [UInt64: [UInt8]]?

    init(seed: UInt64) {
        disk = SimulatedDisk(seed: seed)
        storage = disk.storage()
        ledger = Self.open(storage, seed: seed)
    }

    private static func open(_ storage: SimulatedStorage, seed: UInt64) -> HubLedger {
        var options = HubLedger.Options()
        options.segmentByteCount = 65_536
        do throws(LogError) {
            return try HubLedger(storage: storage, options: options, seed: seed)
        } catch {
            // Nothing makes this disk fail; what it holds, the ledger has written.
            fatalError("the simulated cloud cannot read its own disk: \(error)")
        }
    }

    /// Kills the daemon and starts it again.
    mutating func restart(seed: UInt64) {
        storage.kill()
        storage = disk.storage()
        ledger = Self.open(storage, seed: seed)
    }

    /// The answer to a request, which is on disk with everything that it acknowledges.
    mutating func apply(
        _ request: SyncRequest, to id: StoreID, now: Int64
    ) throws(SyncTransportError) -> SyncResponse {
        do throws(HubLedger.Fault) {
            let response = try ledger.apply(request, to: id, now: now)
            try sync()
            return response
        } catch {
            throw .refused(status: 507, code: "full", message: "\(error)")
        }
    }

    /// Starts a new history for every store, on disk.
    mutating func renewEpochs() throws(HubLedger.Fault) {
        try ledger.renewEpochs()
        try sync()
    }

    private func sync() throws(HubLedger.Fault) {
        do throws(LogError) {
            try ledger.sync()
            while ledger.isCompactionDue { try ledger.compactStep() }
        } catch {
            throw .log(error)
        }
    }

    mutating func removeStreams(of machine: Machine? = nil) -> [Stream] {
        let removed = streams.filter { machine == nil || $0.driver.program.machine === machine }
        streams.removeAll { machine == nil || $0.driver.program.machine === machine }
        return removed
    }
}
