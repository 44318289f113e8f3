// Whole worlds under a seed: several devices and processes, a daemon, their disks, clocks and
// network, and what must hold. Not here: running many of them (Tests/Support/simulate).

import KVStore
import KVStoreCore
import KVStoreSimulation
import KVStoreTesting

/// A world under one seed: devices with programs, a daemon, a network, disks and clocks, all of which may fail. It
/// runs the product's replica, log and ledger and only stands in for what is outside of them.
///
/// `run` throws the first broken promise. The same seed gives the same trace, byte for byte.
package final class World {
    enum Action {
        case step
        case start(device: Int, process: Int)
        case startDaemon
        /// Something that happens on the device itself.
        case deliver(Event, ProcessAddress)
        /// Something that comes from the daemon.
        case message(Event, ProcessAddress, sent: Int64)
        case catchUp(ProcessAddress)
        case flush(ProcessAddress)
        case request(ProcessAddress, id: UInt64, SyncRequest, sent: Int64)
        case openStream(ProcessAddress, id: UInt64, since: SyncCursor)
        case feed(ProcessAddress, id: UInt64)
        case daemonSync
        case daemonRecovery
        case networkFaultsEnd(device: Int)
        case shortageEnds
    }

    struct ProcessAddress: Equatable {
        var device: Int
        var process: Int
        var incarnation: UInt64
    }

    package let seed: UInt64
    let options: WorldOptions
    /// One of each account.
    let stores: [StoreID]
    var random: SplitMix64
    var queue = Agenda<Action>()
    /// Virtual milliseconds since the world began.
    var time: Int64 = 0
    var devices: [SimulatedDevice] = []
    var daemon: SimulatedDaemon
    var facts: [StoreID: StoreFacts] = [:]
    var lastID: UInt64 = 0
    var stepsLeft: Int
    var isHealing = false
    /// The greatest time that the daemon's clock has shown with a request.
    var latestDaemonTime: Int64 = 0
    /// No message lives for the months that a removal is kept: those sent before this time are lost.
    var oldestMessageTime: Int64 = 0
    /// Whether the daemon has lost a part of its history, or a replica has gone back to an earlier one.
    var hasRestored = false
    /// The greatest stamp given out, per replica id.
    var lastStamps: [ReplicaID: StoreStamp] = [:]
    /// How often each replica directory had been replaced when the daemon last lost its history.
    var replacementCounts: [Int] = []
    /// Found where it could not be thrown.
    var pendingViolation: Violation?
    /// What happened, by kind, for the report.
    package internal(set) var counts: [String: Int] = [:]
    private var trace: [String] = []
    /// Called with every line of the trace.
    package var traceSink: ((String) -> Void)?
    /// A digest of the whole trace.
    package private(set) var traceDigest: UInt64 = 0xCBF2_9CE4_8422_2325

    static let epochMilliseconds: Int64 = 1_789_732_800_000

    package init(seed: UInt64, options: WorldOptions? = nil) {
        self.seed = seed
        self.options = options ?? WorldOptions(seed: seed)
        stores = (self.options.hasAccounts ? ["one", "two"] : ["one"]).map {
            StoreID(account: $0, name: "default")
        }
        random = SplitMix64(seed: seed)
        daemon = SimulatedDaemon(disk: SimulatedDisk(seed: random.next()))
        stepsLeft = self.options.stepCount
    }

    /// Runs the world to its end and checks every promise on the way.
    package func run() throws(Violation) {
        queue.add(.startDaemon, at: 0)
        for _ in 0..<options.deviceCount {
            for (place, store) in stores.enumerated() {
                addDevice(store, isSignedIn: place == 0)
            }
        }
        queue.add(.step, at: delay(1...500))
        while let (due, action) = queue.popFirst() {
            time = max(time, due)
            guard !isHealing || time < restTime else { break }
            try perform(action)
            if let pendingViolation { throw pendingViolation }
        }
        try checkRest()
    }

    private func addDevice(_ store: StoreID, isSignedIn: Bool) {
        let processCount = Int.random(in: 1...2, using: &random)
        var device = SimulatedDevice(
            disk: SimulatedDisk(seed: random.next()), store: store, isSignedIn: isSignedIn,
            processes: Array(repeating: nil, count: processCount))
        for fault in options.hasNetworkFaults ? Self.backgroundFaults : [] {
            _ = device.network.faults.add(fault, now: time)
        }
        devices.append(device)
        for process in 0..<processCount {
            queue.add(.start(device: devices.count - 1, process: process), at: delay(0...2_000))
        }
    }

    /// When a healed world must have come to rest.
    private var restTime: Int64 { (healTime ?? time) + 600_000 }
    private(set) var healTime: Int64?

    private func perform(_ action: Action) throws(Violation) {
        guard try arrives(action) else { return }
        switch action {
        case .step: try step()
        case .start(let device, let process): try start(device, process)
        case .startDaemon: try startDaemon()
        case .deliver(let event, let address): try deliver(event, to: address)
        case .message(let event, let address, let sent): try receive(event, at: address, sent: sent)
        case .catchUp(let address):
            self[address]?.isCatchUpScheduled = false
            try catchUp(address)
        case .flush(let address): try flush(address)
        case .request(let address, let id, let request, let sent):
            guard sent >= oldestMessageTime else { return }
            try receive(request, id: id, from: address)
        case .openStream(let address, let id, let since): try openStream(address, id: id, since: since)
        case .feed(let address, let id): try feed(address, id: id)
        case .daemonSync: try syncDaemon()
        case .daemonRecovery: try recoverDaemon()
        case .networkFaultsEnd(let device): endNetworkFaults(of: device)
        case .shortageEnds: try endShortage()
        }
    }

    /// A message from before a removal was forgotten breaks its connection instead of arriving.
    private func receive(_ event: Event, at address: ProcessAddress, sent: Int64) throws(Violation) {
        guard isAwaited(event, at: address) else { return }
        switch event {
        case .stream(let id, _) where sent < oldestMessageTime: try deliver(.streamEnded(id: id, nil), to: address)
        case .answered(_, .success(let response)):
            guard sent >= oldestMessageTime else { return }
            for rejection in response.rejections {
                if case .clock = rejection.reason { count("clock refusal") }
            }
            try deliver(event, to: address)
        default: try deliver(event, to: address)
        }
    }

    /// Ends all faults, brings everything up and lets the world come to rest.
    func heal() throws(Violation) {
        isHealing = true
        healTime = time
        log("heal", "")
        daemon.disk.faults = FaultPlan()
        daemon.clockError = 0
        if options.shortage != nil {
            if options.shortage == .disk { daemon.disk.faults.capacity = 0 }
            queue.add(.shortageEnds, at: time + 300_000)
        }
        if daemon.ledger == nil { queue.add(.startDaemon, at: time) }
        for index in devices.indices {
            devices[index].network.faults = NetworkFaults()
            release(index)
            devices[index].isSignedIn = true
            devices[index].disk.faults = FaultPlan()
            for process in devices[index].processes.indices {
                if devices[index].processes[process] == nil {
                    queue.add(.start(device: index, process: process), at: time + 10)
                }
            }
        }
    }

    // MARK: - Small things

    subscript(address: ProcessAddress) -> SimulatedProcess? {
        get {
            guard let process = devices[address.device].processes[address.process],
                process.incarnation == address.incarnation
            else { return nil }
            return process
        }
        set {
            guard devices[address.device].processes[address.process]?.incarnation == address.incarnation else { return }
            devices[address.device].processes[address.process] = newValue
        }
    }

    func instant(of device: Int) -> Instant {
        Instant(wall: Self.epochMilliseconds + time + devices[device].clockError, monotonic: time)
    }

    var daemonTime: Int64 { Self.epochMilliseconds + time + daemon.clockError }

    func delay(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &random) }

    func isLikely(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    func name(_ address: ProcessAddress) -> String { "d\(address.device)p\(address.process)" }

    func count(_ kind: String) { counts[kind, default: 0] += 1 }

    func log(_ kind: String, _ detail: String) {
        count(kind)
        let line = "\(time) \(kind) \(detail)"
        for byte in line.utf8 { traceDigest = (traceDigest ^ UInt64(byte)) &* 0x100_0000_01B3 }
        traceSink?(line)
        trace.append(line)
        if trace.count > 400 { trace.removeFirst(200) }
    }

    func violation(_ promise: String, _ detail: String) -> Violation {
        Violation(seed: seed, time: time, promise: promise, detail: detail, trace: trace.suffix(40))
    }
}
