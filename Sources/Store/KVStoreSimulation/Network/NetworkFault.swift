public import KVStoreCore

/// A fault of the network between a device and the cloud.
///
/// ```swift
/// phone.inject(NetworkFault(.delay(.seconds(2)), of: [.answer], for: .seconds(60)))
/// phone.inject(NetworkFault(.drop, of: [.request], probability: 0.3, seed: 7))
/// ```
public struct NetworkFault: Sendable, Equatable {
    /// A kind of message between a device and the cloud.
    public enum Message: String, Sendable, Hashable, CaseIterable, Codable {
        /// Up: a device sends its changes and asks for those of others.
        case request
        /// Down: the outcome of a request. If it is lost, the cloud has the changes and the device does not know.
        case answer
        /// Down: a change on the live stream. A stream that loses one breaks.
        case event
    }

    /// The effect on a message.
    public enum Effect: Sendable, Equatable {
        /// The device has no network: requests fail at once, the live stream breaks, and what is in transit is lost.
        case offline
        /// It waits until the fault is removed.
        case hold
        /// It takes that much longer. A round trip of more than 30 seconds fails.
        case delay(Duration)
        /// It takes up to that much longer, so that a later one may arrive first. Events of one stream keep their
        /// order.
        case reorder(within: Duration)
        /// It is lost. A request without an answer fails after 30 seconds.
        case drop
        /// The request arrives a second time up to two seconds later. Answers and events never do.
        case duplicate
        /// The cloud asks the device to wait if it sends more.
        case throttle(CloudThrottle)
        /// The request fails without reaching the cloud.
        case fail(SyncTransportError)
    }

    /// The effect on each affected message.
    public var effect: Effect
    /// The kinds of messages that are affected. `offline` and `throttle` affect the device whatever is said here.
    public var messages: Set<Message>
    /// How many messages are affected, at least one; nil for any number. `offline`, `hold` and `throttle` last until
    /// they end.
    public var count: Int?
    /// The probability that a message is affected, from 0 to 1. Without meaning for `offline`, `hold` and `throttle`.
    public var probability: Double
    /// How long the fault lasts; nil until it is removed.
    public var timeToLive: Duration?
    /// Seeds the random choices of this fault; nil to draw them from the cloud's seed.
    public var seed: UInt64?

    /// Creates a fault; the parameters are described at the properties of the same name.
    public init(
        _ effect: Effect, of messages: Set<Message> = Set(Message.allCases), count: Int? = nil,
        probability: Double = 1, for timeToLive: Duration? = nil, seed: UInt64? = nil
    ) {
        self.effect = effect
        self.messages = messages
        self.count = count
        self.probability = probability
        self.timeToLive = timeToLive
        self.seed = seed
    }
}

extension NetworkFault: CustomStringConvertible {
    /// Such as "drop of the next 2 answers, with a probability of 0.3, for 5.0 seconds".
    public var description: String {
        let kinds =
            messages.count == Message.allCases.count
            ? "messages" : messages.map { "\($0.rawValue)s" }.sorted().joined(separator: " and ")
        var text = "\(effect) of \(count.map { "the next \($0) " } ?? "all ")\(kinds)"
        if probability < 1 { text += ", with a probability of \(probability)" }
        if let timeToLive { text += ", for \(timeToLive)" }
        return text
    }
}

extension NetworkFault.Effect: CustomStringConvertible {
    public var description: String {
        switch self {
        case .offline: "offline"
        case .hold: "hold"
        case .delay(let duration): "delay by \(duration)"
        case .reorder(let duration): "reordering within \(duration)"
        case .drop: "drop"
        case .duplicate: "duplication"
        case .throttle(let throttle): "throttle to \(throttle.requestCount) requests in \(throttle.window)"
        case .fail(let error): "failure (\(error))"
        }
    }
}
