import KVStore
import KVStoreCore
import KVStoreSimulation
import Synchronization

extension SimulatedCloud {
    /// After this long a request that got no answer counts as lost.
    private static let timeoutMilliseconds: Int64 = 30_000
    private static let latencyMilliseconds: ClosedRange<Int64> = 10...30

    /// Sends a request, which may fail, be lost or be doubled on its way.
    func send(_ outgoing: Ready.Outgoing, from driver: CloudDriver) {
        let machine = driver.program.machine
        log(
            "\(driver.program.label) sends \(outgoing.request.changes.map(\.key)) "
                + "since \(outgoing.request.since?.sequence ?? 0)")
        func answer(_ error: SyncTransportError) -> Event {
            .answered(id: outgoing.id, .failure(error))
        }
        schedule(.deliver(answer(.unreachable("no answer came in time")), driver), after: Self.timeoutMilliseconds)
        carry(.request(driver, outgoing), .request, of: machine)
    }

    /// Puts a message on its way, as often as it arrives.
    func carry(_ message: Action, _ kind: NetworkFault.Message?, of machine: Machine) {
        switch arrivals(of: kind, machine) {
        case .arrives(let delays):
            for (number, delay) in delays.enumerated() {
                if number > 0 { log("the network doubles \(message.description)") }
                schedule(message, after: delay)
            }
        case .lost: log("the network loses \(message.description)")
        case .fails(let error):
            guard case .request(let driver, let outgoing) = message else { return }
            schedule(.message(.answered(id: outgoing.id, .failure(error)), driver), after: latency())
        }
    }

    /// The delays of a message and its copies.
    ///
    /// - Parameter kind: nil for the opening of a stream.
    func arrivals(of kind: NetworkFault.Message?, _ machine: Machine) -> NetworkFaults.Outcome {
        let (outcome, hasEnded) = machine.network.withLock { network in
            let former = network.faults.active.count
            let outcome = state.withLock { network.faults.send(kind, random: &$0.random) }
            return (outcome, network.faults.active.count < former)
        }
        let message = kind ?? .event
        if hasEnded { record("faults", of: machine.name) }
        switch outcome {
        case .lost: record(.dropped, of: message, on: machine)
        case .fails: record(.failed, of: message, on: machine)
        case .arrives(let extra):
            if extra.count > 1 { record(.duplicated, of: message, on: machine) }
            if extra[0] > 0 {
                record(.delayed(milliseconds: extra[0]), of: message, on: machine)
            }
        }
        guard case .arrives(let extra) = outcome else { return outcome }
        return .arrives(extra.map { latency() + $0 })
    }

    private func latency() -> Int64 { random(Self.latencyMilliseconds) }

    /// Whether the device's network lets a message through that arrives now.
    func arrives(_ message: Action) -> Bool {
        guard let machine = message.program?.machine else { return true }
        switch machine.network.withLock({ $0.arrival(of: message, message.kind) }) {
        case .passes: return true
        case .held:
            log("the network holds \(message.description)")
            record(.held, of: message.kind, on: machine)
            return false
        case .lost:
            log("offline: \(message.description) is lost")
            record(.offline, of: message.kind, on: machine)
        }
        let error = SyncTransportError.unreachable("\(machine.name) is offline")
        switch message {
        case .request(let driver, let outgoing): driver.deliver(.answered(id: outgoing.id, .failure(error)), in: self)
        case .message(.answered(let id, _), let driver): driver.deliver(.answered(id: id, .failure(error)), in: self)
        case .openStream(let driver, let id, _), .message(.stream(let id, _), let driver):
            driver.deliver(.streamEnded(id: id, error), in: self)
        default: break
        }
        return false
    }

    /// Breaks what is open between a device that has gone offline and the cloud.
    func disconnect(_ machine: Machine) {
        breakUp(hub.withLock { $0.removeStreams(of: machine) }, "\(machine.name) is offline")
        letGo(machine)
    }

    /// Whether a device without a network, whose back-off no longer grows, tries again only when it has one: until then
    /// every attempt would fail as the last one did, and a month without a network would take 100,000 of them.
    func waitsForNetwork(_ driver: CloudDriver) -> Bool {
        let machine = driver.program.machine
        guard driver.backoffMilliseconds >= Backoff.greatestMilliseconds / 2,
            machine.network.withLock({ $0.faults.isOffline })
        else { return false }
        machine.state.withLock { state in
            if !state.waiting.contains(where: { $0 === driver }) { state.waiting.append(driver) }
        }
        return true
    }

    /// As if the attempts had gone on: the next one comes at any time within the back-off.
    private func endWaiting(of machine: Machine) {
        guard !machine.network.withLock({ $0.faults.isOffline }) else { return }
        let drivers = machine.state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for driver in drivers {
            schedule(.deliver(.woke, driver), after: random(0...driver.backoffMilliseconds))
        }
    }

    /// Delivers what a held network has kept and no longer holds, in the order in which it came.
    func letGo(_ machine: Machine) {
        endWaiting(of: machine)
        let messages = machine.network.withLock { $0.takeReleased() }
        guard !messages.isEmpty else { return }
        let now = virtualClock.milliseconds
        state.withLock { state in
            state.agenda.addFirst(messages, at: now)
            state.activity += 1
        }
    }

    // MARK: - Faults

    /// Returns the id to remove it by.
    func inject(_ fault: NetworkFault, on machine: Machine) -> Int {
        let now = virtualClock.milliseconds
        let (wasOffline, id) = machine.network.withLock { network in
            (network.faults.isOffline, network.faults.add(fault, now: now))
        }
        log("\(machine.name) has the fault \(fault)")
        record("faults", of: machine.name) { $0.detail = "begins: \(fault)" }
        if !wasOffline, fault.effect == .offline { disconnect(machine) }
        if let timeToLive = fault.timeToLive {
            schedule(.faultsEnd(machine), after: max(0, timeToLive.milliseconds))
        }
        return id
    }

    func removeFaults(of machine: Machine, where isRemoved: (NetworkFaults.Active) -> Bool = { _ in true }) {
        let removed = machine.network.withLock { network in
            defer { network.faults.remove(where: isRemoved) }
            return network.faults.active.filter(isRemoved)
        }
        if !removed.isEmpty { log("\(machine.name) loses \(removed.count) faults") }
        recordEnd(of: removed, on: machine)
        letGo(machine)
    }

    /// The time of a fault is over.
    func endFaults(of machine: Machine) {
        let ended = machine.network.withLock {
            $0.faults.expire(now: virtualClock.milliseconds)
        }
        for fault in ended { log("\(machine.name) no longer has the fault \(fault.fault)") }
        recordEnd(of: ended, on: machine)
        letGo(machine)
    }

    private func recordEnd(of faults: [NetworkFaults.Active], on machine: Machine) {
        for fault in faults {
            record("faults", of: machine.name) { $0.detail = "ends: \(fault.fault)" }
        }
    }
}

extension SimulatedCloud.Action {
    /// The kind of a message, as faults name it. Opening a stream is the beginning of its events.
    fileprivate var kind: NetworkFault.Message {
        switch self {
        case .request: .request
        case .message(.answered, _): .answer
        default: .event
        }
    }
}
