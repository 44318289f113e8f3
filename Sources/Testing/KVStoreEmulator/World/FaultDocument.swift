import Essentials
import KVStoreCore
import KVStoreSimulation
import KVStoreWire

/// A fault of a device's network as JSON. Durations are milliseconds.
struct FaultDocument: Sendable, Equatable, Codable {
    var id: Int?
    var effect: String
    var messages: [NetworkFault.Message]?
    var count: Int?
    var probability: Double?
    var timeToLive: Int64?
    /// Until the fault ends by itself. Read only.
    var remaining: Int64?
    var seed: UInt64?
    /// For `delay` and `reorder`.
    var milliseconds: Int64?
    /// For `throttle`.
    var requestCount: Int?
    var window: Int64?
    /// For `fail`.
    var reason: Reason?

    /// Why requests fail.
    enum Reason: String, Sendable, Codable, CaseIterable {
        case unreachable, unauthorized, forbidden, throttled, unavailable, full

        fileprivate var error: SyncTransportError {
            switch self {
            case .unreachable: .unreachable("the connection broke")
            case .unauthorized: .unauthorized("the emulator refuses the token")
            case .forbidden: .refused(status: 403, code: "forbidden", message: "the emulator refuses")
            case .throttled: .busy(retryAfterSeconds: 1)
            case .unavailable: .refused(status: 503, code: "busy", message: "the emulator is unavailable")
            case .full: .refused(status: 507, code: "memory-full", message: "the emulator is full")
            }
        }
    }

    init(_ active: NetworkFaults.Active, now: Int64) {
        let fault = active.fault
        id = active.id
        effect = ""
        messages = NetworkFault.Message.allCases.filter(fault.messages.contains)
        count = active.remaining
        probability = fault.probability < 1 ? fault.probability : nil
        timeToLive = fault.timeToLive?.milliseconds
        remaining = active.end.map { max(0, $0 - now) }
        seed = fault.seed
        switch fault.effect {
        case .offline: effect = "offline"
        case .hold: effect = "hold"
        case .delay(let duration): (effect, milliseconds) = ("delay", duration.milliseconds)
        case .reorder(let duration): (effect, milliseconds) = ("reorder", duration.milliseconds)
        case .drop: effect = "drop"
        case .duplicate: effect = "duplicate"
        case .throttle(let throttle):
            effect = "throttle"
            (requestCount, window) = (throttle.requestCount, throttle.window.milliseconds)
        case .fail(let error):
            effect = "fail"
            reason = Reason.allCases.first { $0.error == error }
        }
    }

    /// The fault; throws why it is invalid.
    func fault() throws(Problem) -> NetworkFault {
        try check("count", count.map(Int64.init), 1...1_000_000)
        try check("timeToLive", timeToLive, Self.durations)
        if let probability, !(0...1).contains(probability) {
            throw .invalidFault("probability is \(probability), and not between 0 and 1")
        }
        if messages?.isEmpty == true { throw .invalidFault("messages is empty") }
        return NetworkFault(
            try decodedEffect(), of: messages.map { Set($0) } ?? Set(NetworkFault.Message.allCases), count: count,
            probability: probability ?? 1, for: timeToLive.map { .milliseconds($0) }, seed: seed)
    }

    private static let durations: ClosedRange<Int64> = 0...86_400_000

    private func decodedEffect() throws(Problem) -> NetworkFault.Effect {
        switch effect {
        case "offline": return .offline
        case "hold": return .hold
        case "delay": return .delay(.milliseconds(try duration()))
        case "reorder": return .reorder(within: .milliseconds(try duration()))
        case "drop": return .drop
        case "duplicate": return .duplicate
        case "throttle":
            let usual = CloudThrottle.observedOfApple
            try check("requestCount", requestCount.map(Int64.init), 0...1_000)
            try check("window", window, 1...Self.durations.upperBound)
            return .throttle(
                CloudThrottle(
                    requestCount: requestCount ?? usual.requestCount,
                    per: window.map { .milliseconds($0) } ?? usual.window))
        case "fail": return .fail((reason ?? .unreachable).error)
        default:
            throw .invalidFault(
                "effect is not one of offline, hold, delay, reorder, drop, duplicate, throttle and fail")
        }
    }

    private func duration() throws(Problem) -> Int64 {
        guard let milliseconds else { throw .invalidFault("\(effect) needs milliseconds") }
        try check("milliseconds", milliseconds, Self.durations)
        return milliseconds
    }

    private func check(_ name: String, _ value: Int64?, _ range: ClosedRange<Int64>) throws(Problem) {
        guard let value, !range.contains(value) else { return }
        throw .invalidFault("\(name) is \(value), and not between \(range.lowerBound) and \(range.upperBound)")
    }
}

struct FaultList: Sendable, Equatable, Codable {
    var faults: [FaultDocument]
}
