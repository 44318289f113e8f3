import KVStoreCore
import KVStoreSimulation
import NIOCore
import KVStoreServer

/// The messages that faults delay or hold, of all worlds, and the requests under way. Time is that of the worlds.
///
/// On the event loop of the emulator only, and unchecked for that reason.
final class EmulatedNetwork: @unchecked Sendable {
    struct Waiting {
        let world: String
        let device: String
        let kind: NetworkFault.Message
        /// The world's time at which it arrives, unless it is held.
        let due: Int64
        let order: UInt64
        /// Called once: whether it arrives or is lost.
        let deliver: (Bool) -> Void
    }

    let emulation: Emulation
    private let loop: any EventLoop
    private(set) var waiting: [Waiting] = []
    /// Open live streams.
    private(set) var links: [ObjectIdentifier: StreamLink] = [:]
    /// Requests that the stores work on, by world.
    private(set) var requestCounts: [String: Int] = [:]
    private var timers: [String: Scheduled<Void>] = [:]
    private var settlers: [ObjectIdentifier: Settler] = [:]
    private var lastOrder: UInt64 = 0

    static let waitingCount = 16_384

    init(_ emulation: Emulation, _ loop: any EventLoop) {
        self.emulation = emulation
        self.loop = loop
    }

    // MARK: - Messages

    /// What becomes of a message that is sent now.
    struct Passage {
        fileprivate let kind: NetworkFault.Message
        fileprivate let world: String
        fileprivate let device: String
        /// Why it does not arrive.
        let error: SyncTransportError?
        /// The world's time at which it arrives.
        let due: Int64
        /// Whether it waits.
        let isLate: Bool
        /// When a copy arrives.
        let copy: Int64?
    }

    /// Decides about a message, with random choices in the order of the calls.
    ///
    /// - Parameters:
    ///   - kind: nil for the opening of a stream.
    ///   - notBefore: the world's time before which the message does not arrive.
    func decide(_ kind: NetworkFault.Message?, of device: String, in world: String, notBefore: Int64 = 0) -> Passage {
        let now = emulation.time(in: world)
        let isOver = emulation.changePresent(world) {
            ($0.devices[device]?.faults.nextEnd ?? .max) <= now
        }
        // What such a fault held comes first.
        if isOver == true { deliverDue(world) }
        let (outcome, isOffline, isHeld, hasEnded) =
            emulation.changePresent(world) { world -> (NetworkFaults.Outcome, Bool, Bool, Bool) in
                let former = world.devices[device]?.faults.active.count ?? 0
                let outcome = world.send(kind, of: device)
                let faults = world.devices[device]?.faults
                return (
                    outcome, faults?.isOffline ?? false, faults?.holds(kind ?? .event) ?? false,
                    faults?.active.count ?? 0 < former
                )
            } ?? (.arrives([0]), false, false, false)
        let kind = kind ?? .event
        func report(_ outcome: FaultOutcome) {
            emulation.publish(.fault(device: device, kind, outcome), in: world)
        }
        func passage(
            _ error: SyncTransportError?, due: Int64, isLate: Bool = false, copy: Int64? = nil
        ) -> Passage {
            Passage(kind: kind, world: world, device: device, error: error, due: due, isLate: isLate, copy: copy)
        }
        if hasEnded { emulation.publish(.faults(device: device), in: world) }
        if isOffline {
            report(.offline)
            return passage(.unreachable("offline"), due: now)
        }
        switch outcome {
        case .lost:
            report(.dropped)
            return passage(.unreachable("lost"), due: now)
        case .fails(let error):
            report(.failed)
            return passage(error, due: now)
        case .arrives(let delays):
            let due = max(now + (delays.first ?? 0), notBefore)
            let copy = delays.count > 1 ? delays.last.map { now + $0 } : nil
            if copy != nil { report(.duplicated) }
            if isHeld { report(.held) } else if due > now { report(.delayed(milliseconds: due - now)) }
            return passage(nil, due: due, isLate: isHeld || due > now, copy: copy)
        }
    }

    /// Carries a message; `deliver` runs at once or later, `copy` only later.
    func carry(
        _ passage: Passage, copy: (() -> Void)? = nil,
        deliver: @escaping (SyncTransportError?) -> Void
    ) {
        if let copy, let due = passage.copy {
            add(passage, due: due) { if $0 { copy() } }
        }
        guard passage.isLate else { return deliver(passage.error) }
        add(passage, due: passage.due) { deliver($0 ? nil : .unreachable("lost")) }
    }

    private func add(_ passage: Passage, due: Int64, deliver: @escaping (Bool) -> Void) {
        guard waiting.count < Self.waitingCount else { return deliver(false) }
        lastOrder += 1
        waiting.append(
            Waiting(
                world: passage.world, device: passage.device, kind: passage.kind, due: due,
                order: lastOrder, deliver: deliver))
        // Later: a stream that sends is being read.
        if !emulation.isReplaying { loop.execute { [self] in release(passage.world) } }
    }

    /// Delivers what has arrived by the world's time and is not held; after its clock or its faults have changed.
    func release(_ name: String) {
        guard let recorder = emulation.recorder else { return deliverDue(name) }
        recorder.record(.releases(world: name), keepsEmpty: false) { deliverDue(name) }
    }

    private func deliverDue(_ name: String) {
        timers.removeValue(forKey: name)?.cancel()
        let now = emulation.time(in: name)
        let (devices, isFollowing, ended) =
            emulation.changePresent(name) { world -> ([String: EmulatedWorld.Device], Bool, [String]) in
                var ended: [String] = []
                for device in world.devices.keys.sorted()
                where world.devices[device]?.faults.expire(now: now).isEmpty == false {
                    ended.append(device)
                }
                return (world.devices, world.clock.isFollowing, ended)
            } ?? ([:], true, [])
        for device in ended { emulation.publish(.faults(device: device), in: name) }
        var ready: [(message: Waiting, arrives: Bool)] = []
        var next = devices.values.compactMap(\.faults.nextEnd).min()
        waiting.removeAll { message in
            guard message.world == name else { return false }
            let faults = devices[message.device]?.faults
            if faults?.isOffline == true {
                ready.append((message, false))
                return true
            }
            if faults?.holds(message.kind) == true { return false }
            guard message.due <= now else {
                next = min(next ?? .max, message.due)
                return false
            }
            ready.append((message, true))
            return true
        }
        if let next, isFollowing, !emulation.isReplaying {
            timers[name] = loop.scheduleTask(in: .milliseconds(next - now)) { [weak self] in
                self?.release(name)
            }
        }
        ready.sort { ($0.message.due, $0.message.order) < ($1.message.due, $1.message.order) }
        for (message, arrives) in ready { message.deliver(arrives) }
        loop.execute { [self] in wakeStreams(of: name) }
        markActive(in: name)
    }

    /// Takes out what waits in a world or in all, or for one device, to be lost.
    func withdraw(from world: String?, of device: String? = nil) -> [Waiting] {
        func isAffected(_ message: Waiting) -> Bool {
            (world == nil || message.world == world) && (device == nil || message.device == device)
        }
        defer { waiting.removeAll(where: isAffected) }
        return waiting.filter(isAffected)
    }

    /// Loses what waits for a device, whose account has changed.
    func lose(of device: String, in world: String) {
        for message in withdraw(from: world, of: device) { message.deliver(false) }
        release(world)
    }

    /// Loses everything that waits, and answers those who wait for a world to settle.
    func stop() {
        for timer in timers.values { timer.cancel() }
        timers = [:]
        let lost = waiting
        waiting = []
        for message in lost { message.deliver(false) }
        for settler in Array(settlers.values) { settler.stop() }
    }

    // MARK: - Streams

    func sendEvent(of device: String, in world: String, notBefore: Int64 = 0) -> Passage {
        func passage() -> Passage {
            decide(.event, of: device, in: world, notBefore: notBefore)
        }
        guard let recorder = emulation.recorder else { return passage() }
        return recorder.record(.sends(world: world, device: device, notBefore: notBefore), body: passage)
    }

    func add(_ link: StreamLink) { links[ObjectIdentifier(link)] = link }

    func remove(_ link: StreamLink) {
        links[ObjectIdentifier(link)] = nil
        markActive(in: link.world)
    }

    private func wakeStreams(of world: String) {
        for link in links.values where link.world == world { link.wake() }
    }

    // MARK: - Requests and settling

    func begin(in world: String) { requestCounts[world, default: 0] += 1 }

    func end(in world: String) {
        let rest = requestCounts[world, default: 1] - 1
        requestCounts[world] = rest > 0 ? rest : nil
        markActive(in: world)
    }

    func add(_ settler: Settler) { settlers[ObjectIdentifier(settler)] = settler }

    func remove(_ settler: Settler) { settlers[ObjectIdentifier(settler)] = nil }

    func markActive(in world: String) {
        for settler in settlers.values where settler.world == world { settler.markActive() }
    }
}
