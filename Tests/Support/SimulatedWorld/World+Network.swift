import KVStoreCore
import KVStoreSimulation
import KVStoreTesting

/// The network of each device, under the same faults as in `SimulatedCloud` and the emulator.
extension World {
    /// What goes wrong on a bad connection all the time.
    static let backgroundFaults = [
        NetworkFault(.drop, probability: 0.1), NetworkFault(.reorder(within: .seconds(20)), probability: 0.2),
        NetworkFault(.duplicate, of: [.request], probability: 0.1),
    ]

    // MARK: - Messages

    /// Puts a message on its way, as often as it arrives.
    func carry(_ message: Action, _ kind: NetworkFault.Message?, of device: Int) {
        switch arrivals(of: kind, device) {
        case .arrives(let times):
            if times.count > 1 { log("doubled request", "d\(device)") }
            for time in times { queue.add(message, at: time) }
        case .lost: break
        case .fails(let error):
            guard case .request(let address, let id, _, _) = message else { return }
            queue.add(.deliver(.answered(id: id, .failure(error)), address), at: time + latency())
        }
    }

    /// When an event of a stream arrives that is sent now; nil if it is lost.
    func eventArrival(at device: Int) -> Int64? {
        if case .arrives(let times) = arrivals(of: .event, device) { times[0] } else { nil }
    }

    /// When a message that is sent now and its copy arrive.
    ///
    /// - Parameter kind: nil for the opening of a stream.
    private func arrivals(of kind: NetworkFault.Message?, _ device: Int) -> NetworkFaults.Outcome {
        let outcome = devices[device].network.faults.send(kind, random: &random)
        switch outcome {
        case .arrives(let delays):
            if delays[0] > 0 { count("late message") }
            return .arrives(delays.map { time + latency() + $0 })
        case .lost: count("lost message")
        case .fails: count("failed request")
        }
        return outcome
    }

    private func latency() -> Int64 {
        delay(1...(options.hasNetworkFaults && !isHealing ? 200 : 20))
    }

    /// Whether the device's network lets a message through that arrives now.
    func arrives(_ message: Action) throws(Violation) -> Bool {
        guard let (kind, address) = message.kindAndAddress else { return true }
        switch devices[address.device].network.arrival(of: message, kind) {
        case .passes: return true
        case .held: count("held message")
        case .lost:
            count("message of an offline device")
            try noticeLoss(of: message)
        }
        return false
    }

    /// A device that is offline notices at once that a request fails, or by the time that it takes. What follows a
    /// lost event never arrives.
    private func noticeLoss(of message: Action) throws(Violation) {
        switch message {
        case .request(let address, let id, _, _), .message(.answered(let id, _), let address, _):
            guard Bool.random(using: &random) else { return }
            let error = SyncTransportError.unreachable("offline")
            try deliver(.answered(id: id, .failure(error)), to: address)
        case .openStream(let address, let id, _), .message(.stream(let id, _), let address, _):
            try deliver(.streamEnded(id: id, nil), to: address)
        default: break
        }
    }

    // MARK: - Faults

    func injectNetworkFault(on device: Int) {
        var fault = drawNetworkFault()
        let duration = delay(1_000...150_000)
        fault.timeToLive = .milliseconds(duration)
        log("network fault", "d\(device) \(fault)")
        _ = devices[device].network.faults.add(fault, now: time)
        queue.add(.networkFaultsEnd(device: device), at: time + duration)
        guard fault.effect == .offline else { return }
        endStreams(of: device)
        release(device)
    }

    private func drawNetworkFault() -> NetworkFault {
        let count = Bool.random(using: &random) ? Int.random(in: 1...5, using: &random) : nil
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<4: return NetworkFault(.offline)
        // A half-open connection: what the device sends arrives, and nothing comes back.
        case 4..<6: return NetworkFault(.drop, of: [.answer, .event])
        case 6..<8: return NetworkFault(.hold, of: drawMessages())
        case 8..<10:
            let duration = Duration.milliseconds(delay(1_000...90_000))
            return NetworkFault(.delay(duration), of: drawMessages(), count: count)
        case 10:
            let throttle = CloudThrottle(
                requestCount: Int.random(in: 1...5, using: &random), per: .milliseconds(delay(1_000...60_000)))
            return NetworkFault(.throttle(throttle))
        default:
            let error = Self.transportErrors.randomElement(using: &random)!
            return NetworkFault(.fail(error), count: count)
        }
    }

    private static let transportErrors: [SyncTransportError] = [
        .unreachable("connection reset"), .unauthorized("expired"), .busy(retryAfterSeconds: nil),
        .busy(retryAfterSeconds: 20), .malformed("truncated"),
        .refused(status: 503, code: "unavailable", message: "later"),
    ]

    private func drawMessages() -> Set<NetworkFault.Message> {
        let messages = NetworkFault.Message.allCases.filter { _ in Bool.random(using: &random) }
        return Set(messages.isEmpty ? NetworkFault.Message.allCases : messages)
    }

    /// The time of a fault is over.
    func endNetworkFaults(of device: Int) {
        _ = devices[device].network.faults.expire(now: time)
        release(device)
    }

    /// Delivers what is no longer held.
    func release(_ device: Int) {
        queue.addFirst(devices[device].network.takeReleased(), at: time)
    }
}

extension World.Action {
    /// Nil unless it is a message between a device and the daemon.
    fileprivate var kindAndAddress: (NetworkFault.Message, World.ProcessAddress)? {
        switch self {
        case .request(let address, _, _, _): (.request, address)
        case .message(.answered, let address, _): (.answer, address)
        case .message(_, let address, _), .openStream(let address, _, _): (.event, address)
        default: nil
        }
    }
}
