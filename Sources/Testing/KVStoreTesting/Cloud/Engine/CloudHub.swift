import KVStore
import KVStoreCore
import KVStoreLedger
import KVStoreLog
import KVStoreSimulation

/// The daemon of a simulated cloud: the product's ledger on a simulated disk, and its live streams.
struct CloudHub {
    struct Stream {
        var driver: CloudDriver
        var id: UInt64
        var cursor: SyncCursor
        /// Events of one stream arrive in order.
        var lastArrival: Int64
    }

    let disk: SimulatedDisk
    private var storage: SimulatedStorage
    private(set) var ledger: Ledger
    var streams: [Stream] = []
    var backup: [UInt64: [UInt8]]?

    init(seed: UInt64) {
        disk = SimulatedDisk(seed: seed)
        storage = disk.storage()
        ledger = Self.open(storage, seed: seed)
    }

    private static func open(_ storage: SimulatedStorage, seed: UInt64) -> Ledger {
        var options = Ledger.Options()
        options.segmentByteCount = 65_536
        do throws(LogError) {
            return try Ledger(storage: storage, options: options, seed: seed)
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

    /// The answer to a request; everything that it acknowledges is durable.
    mutating func apply(_ request: SyncRequest, to id: StoreID, now: Int64) throws(SyncTransportError) -> SyncResponse {
        do throws(LogError) {
            let response = try ledger.apply(request, to: id, now: now)
            try sync()
            return response
        } catch {
            throw .refused(status: 507, code: "full", message: "\(error)")
        }
    }

    /// Begins a new history of every store, durably.
    mutating func renewEpochs() throws(LogError) {
        try ledger.renewEpochs()
        try sync()
    }

    private func sync() throws(LogError) {
        try ledger.sync()
        while ledger.isCompactionDue { try ledger.compactStep() }
    }

    mutating func removeStreams(of machine: Machine? = nil) -> [Stream] {
        let removed = streams.filter { machine == nil || $0.driver.program.machine === machine }
        streams.removeAll { machine == nil || $0.driver.program.machine === machine }
        return removed
    }
}
