import KVStore
import KVStoreCore
import Synchronization

extension SimulatedCloud {
    /// After this long a request that got no answer counts as lost.
    private static let timeoutMilliseconds: Int64 = 30_000
    private static let latencyMilliseconds: ClosedRange<Int64> = 10...30
    private static let reorderingMilliseconds: ClosedRange<Int64> = 0...2_000

    /// Sends a request, which may fail, be lost or be doubled on its way.
    func send(_ outgoing: Ready.Outgoing, from driver: CloudDriver) {
        let machine = driver.program.machine
        note(
            "\(driver.program.label) sends \(outgoing.request.changes.map(\.key)) "
                + "since \(outgoing.request.since?.sequence ?? 0)")
        func answer(_ error: SyncTransportError) -> Event {
            .answered(id: outgoing.id, .failure(error))
        }
        schedule(
            .deliver(answer(.unreachable("no answer came in time")), driver),
            after: Self.timeoutMilliseconds)
        let failure = machine.network.withLock { network in
            network.failures.isEmpty ? nil : network.failures.removeFirst()
        }
        if let failure {
            return schedule(.message(answer(failure), driver), after: latency(of: machine))
        }
        carry(.request(driver, outgoing), of: machine)
        let isDoubled = machine.network.withLock { network in
            guard network.duplicates > 0 else { return false }
            network.duplicates -= 1
            return true
        }
        guard isDoubled else { return }
        note("the network doubles a request of \(driver.program.label)")
        schedule(
            .request(driver, outgoing),
            after: latency(of: machine) + random(Self.reorderingMilliseconds))
    }

    /// Puts a message on its way, unless it is one that gets lost.
    func carry(_ message: Action, of machine: Machine) {
        guard let kind = message.kind, isDropped(kind, of: machine) else {
            return schedule(message, after: latency(of: machine))
        }
        note("the network loses \(message.description)")
    }

    func isDropped(_ kind: CloudDevice.Message, of machine: Machine) -> Bool {
        machine.network.withLock { network in
            guard let left = network.drops[kind], left > 0 else { return false }
            network.drops[kind] = left - 1
            return true
        }
    }

    func latency(of machine: Machine) -> Int64 {
        let (delay, isReordering) = machine.network.withLock { ($0.delay, $0.isReordering) }
        return delay + random(Self.latencyMilliseconds)
            + (isReordering ? random(Self.reorderingMilliseconds) : 0)
    }

    /// Whether the device's network lets a message through that arrives now.
    func arrives(_ message: Action) -> Bool {
        guard let machine = message.program?.machine else { return true }
        let (isOffline, isHeld) = machine.network.withLock { network in
            let isHeld = !network.isOffline && network.isHeld
            if isHeld { network.held.append(message) }
            return (network.isOffline, isHeld)
        }
        if isHeld { note("the network holds \(message.description)") }
        guard isOffline else { return !isHeld }
        note("offline: \(message.description) is lost")
        let error = SyncTransportError.unreachable("\(machine.name) is offline")
        switch message {
        case .request(let driver, let outgoing):
            driver.deliver(.answered(id: outgoing.id, .failure(error)), in: self)
        case .message(.answered(let id, _), let driver):
            driver.deliver(.answered(id: id, .failure(error)), in: self)
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

    /// Delivers what a held network has kept, in the order in which it came.
    func letGo(_ machine: Machine) {
        let held = machine.network.withLock { network in
            defer { network.held = [] }
            return network.held
        }
        for message in held { schedule(message) }
    }

    /// How long a throttled device has to wait before its next request; nil when it may send now.
    func throttleSeconds(of machine: Machine) -> Double? {
        let now = virtualClock.milliseconds
        return machine.network.withLock { network in
            guard let throttle = network.throttle else { return nil }
            let window = throttle.window.milliseconds
            network.requestTimes.removeAll { $0 <= now - window }
            guard network.requestTimes.count >= throttle.requestCount else {
                network.requestTimes.append(now)
                return nil
            }
            let first = network.requestTimes.first ?? now
            return Double(first + window - now) / 1_000
        }
    }
}

extension SimulatedCloud.Action {
    fileprivate var kind: CloudDevice.Message? {
        switch self {
        case .request: .request
        case .message(.answered, _): .answer
        default: nil
        }
    }
}
