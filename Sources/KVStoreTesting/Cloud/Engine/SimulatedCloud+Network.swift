import KVStore
import Synchronization

extension SimulatedCloud {
    /// After this long a request that got no answer counts as lost.
    private static let timeoutMilliseconds: Int64 = 30_000
    private static let latencyMilliseconds: ClosedRange<Int64> = 10...30
    private static let reorderingMilliseconds: ClosedRange<Int64> = 0...2_000

    /// Sends a request, which may be told to fail, to get lost or to be doubled on its way.
    func send(_ request: SyncRequest, id: UInt64, from driver: CloudDriver) {
        let machine = driver.program.machine
        note("\(driver.program.label) sends \(request.changes.map(\.key)) since \(request.since)")
        schedule(.timeout(driver, id: id), after: Self.timeoutMilliseconds)
        let failure = machine.state.withLock { state in
            state.network.failures.isEmpty ? nil : state.network.failures.removeFirst()
        }
        if let failure {
            return schedule(.answer(driver, id: id, .failure(failure)), after: latency(of: machine))
        }
        carry(.request(driver, id: id, request), of: machine)
        let isDoubled = machine.state.withLock { state in
            guard state.network.duplicates > 0 else { return false }
            state.network.duplicates -= 1
            return true
        }
        guard isDoubled else { return }
        note("the network doubles a request of \(driver.program.label)")
        schedule(
            .request(driver, id: id, request),
            after: latency(of: machine) + random(Self.reorderingMilliseconds))
    }

    /// Puts a message on its way, unless it is one that gets lost.
    func carry(_ message: Action, of machine: Machine) {
        guard let kind = message.kind, isDropped(kind, of: machine) else {
            return schedule(message, after: latency(of: machine))
        }
        note("the network loses \(message.words)")
    }

    func isDropped(_ kind: CloudDevice.Message, of machine: Machine) -> Bool {
        machine.state.withLock { state in
            guard let left = state.network.drops[kind], left > 0 else { return false }
            state.network.drops[kind] = left - 1
            return true
        }
    }

    func latency(of machine: Machine) -> Int64 {
        let (delay, isReordering) = machine.state.withLock {
            ($0.network.delay, $0.network.isReordering)
        }
        return delay + random(Self.latencyMilliseconds)
            + (isReordering ? random(Self.reorderingMilliseconds) : 0)
    }

    /// At the moment of its arrival: whether the device's network lets a message through.
    func arrives(_ message: Action) -> Bool {
        let machine = message.program.machine
        let (isOffline, isHeld) = machine.state.withLock { state in
            let isHeld = !state.network.isOffline && state.network.isHeld
            if isHeld { state.network.held.append(message) }
            return (state.network.isOffline, isHeld)
        }
        if isHeld { note("the network holds \(message.words)") }
        guard isOffline else { return !isHeld }
        note("offline: \(message.words) is lost")
        let error = SyncTransportError.unreachable("\(machine.name) is offline")
        switch message {
        case .request(let driver, let id, _), .answer(let driver, let id, _):
            driver.finishRequest(id, .failure(error), in: self)
        case .openStream(let driver, let id, _, _), .event(let driver, let id, _):
            driver.endStream(id, error, in: self)
        default: break
        }
        return false
    }

    /// Breaks what is open between a device that has gone offline and the cloud.
    func disconnect(_ machine: Machine) {
        let error = SyncTransportError.unreachable("\(machine.name) is offline")
        for stream in hub.withLock({ $0.removeStreams(of: machine) }) {
            schedule(.streamEnded(stream.driver, id: stream.id, error))
        }
        letGo(machine)
    }

    /// Delivers what a held network has kept, in the order in which it came.
    func letGo(_ machine: Machine) {
        let held = machine.state.withLock { state in
            defer { state.network.held = [] }
            return state.network.held
        }
        for message in held { schedule(message) }
    }

    /// How long a throttled device has to wait before its next request; nil when it may send now.
    func throttleSeconds(of machine: Machine) -> Double? {
        let now = clock.milliseconds
        return machine.state.withLock { state in
            guard let throttle = state.network.throttle else { return nil }
            let window = throttle.window.milliseconds
            state.network.requestTimes.removeAll { $0 <= now - window }
            guard state.network.requestTimes.count >= throttle.requestCount else {
                state.network.requestTimes.append(now)
                return nil
            }
            let first = state.network.requestTimes.first ?? now
            return Double(first + window - now) / 1_000
        }
    }
}

extension SimulatedCloud.Action {
    fileprivate var kind: CloudDevice.Message? {
        switch self {
        case .request: .request
        case .answer: .answer
        default: nil
        }
    }
}
