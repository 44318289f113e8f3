import Essentials
import OutgoingHTTP
import UsageState

/// What is sent to a browser.
struct PushMessage: Sendable, Equatable {
    let text: Data
    let secondsToLive: Int
    /// How soon the device should be woken; its names are those of RFC 8030, section 5.3.
    let urgency: Alert.Urgency
    let topic: String?

    /// Bytes of a text: with what encryption adds, less than the 4,096 that every push service takes.
    static let byteLimit = 3_000

    /// Nil if the text is too long, or the topic is not 1 to 32 characters of base64url.
    ///
    /// - Parameters:
    ///   - secondsToLive: for which the push service keeps it for a device that is away.
    ///   - topic: a later message with the same one replaces this one while it waits.
    init?(_ text: Data, secondsToLive: Int, urgency: Alert.Urgency, topic: String? = nil) {
        guard text.count <= Self.byteLimit, secondsToLive >= 0,
            topic?.wholeMatch(of: /[0-9A-Za-z_-]{1,32}/) != nil || topic == nil
        else { return nil }
        self.text = text
        self.secondsToLive = secondsToLive
        self.urgency = urgency
        self.topic = topic
    }
}

/// Sends messages to push services, each in a request of its own. Safe from any thread.
struct PushSender: Sendable {
    enum Outcome: Sendable, Equatable {
        /// The push service has the message.
        case accepted
        /// There is no such subscription any more.
        case gone
        /// Why not, without secrets.
        case failed(DeliveryError)
    }

    private let key: VAPIDKey
    private let contact: String
    private var http: HTTPDelivery

    /// - Parameters:
    ///   - contact: a `mailto:` or `https:` URL of who runs the server.
    ///   - http: its redirects are not followed.
    init(key: VAPIDKey, contact: String, http: HTTPDelivery) {
        self.key = key
        self.contact = contact
        self.http = http
        self.http.redirectLimit = 0
    }

    /// - Parameter repeats: whether a push service that is busy, or not there, is asked again, for up to a minute.
    func send(
        _ message: PushMessage, to subscription: PushSubscription, now: Date, repeats: Bool = true
    ) async -> Outcome {
        do {
            var http = http
            if !repeats { http.backOff = [] }
            try await http.deliver(post(message, subscription, now: now))
            return .accepted
        } catch let error as DeliveryError {
            return [404, 410].contains(error.status) ? .gone : .failed(error)
        } catch {
            return .failed(DeliveryError("\(subscription.endpoint.host): the message cannot be encrypted"))
        }
    }

    private func post(_ message: PushMessage, _ subscription: PushSubscription, now: Date) throws -> HTTPPost {
        var headers = [
            (name: "Content-Type", value: "application/octet-stream"), ("Content-Encoding", "aes128gcm"),
            ("TTL", "\(message.secondsToLive)"), ("Urgency", message.urgency.rawValue),
            ("Authorization", try key.authorization(for: subscription.endpoint, contact: contact, now: now)),
        ]
        if let topic = message.topic { headers.append(("Topic", topic)) }
        return HTTPPost(
            address: subscription.endpoint, headers: headers,
            body: try MessageEncryption.encrypt(message.text, for: subscription))
    }
}
