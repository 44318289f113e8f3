public import KVStore
import Synchronization

/// The network between a device and the cloud. By default every message arrives after 10 to 30 milliseconds.
extension CloudDevice {
    /// A kind of message between a device and the cloud.
    public enum Message: Sendable, Hashable, CaseIterable {
        /// Up: a device sends its changes and asks for those of others.
        case request
        /// Down: the outcome of a request. If it is lost, the cloud has the changes and the device does not know.
        case answer
        /// Down: a change on the live stream. A stream that loses one breaks.
        case event
    }

    /// Whether the device has no network. Requests fail at once, the live stream breaks, and messages in transit are
    /// lost. Back online, the device retries within half a minute.
    public var isOffline: Bool {
        get { machine.network.withLock { $0.isOffline } }
        nonmutating set {
            let isChange = machine.network.withLock { network in
                defer { network.isOffline = newValue }
                return network.isOffline != newValue
            }
            guard isChange else { return }
            cloud.note("\(name) is \(newValue ? "offline" : "online")")
            if newValue { cloud.disconnect(machine) }
        }
    }

    /// Whether messages are held back.
    public var isHeld: Bool { machine.network.withLock { $0.isHeld } }

    /// Holds back every message in either direction until `release`.
    ///
    /// ```swift
    /// mac.hold()
    /// phone.store.set("dark", forKey: "theme")
    /// await cloud.advance(by: .seconds(5))
    /// #expect(mac.store.string(forKey: "theme") == nil)
    /// mac.release()
    /// try await cloud.settle()
    /// #expect(mac.store.string(forKey: "theme") == "dark")
    /// ```
    public func hold() {
        cloud.note("\(name) is held")
        machine.network.withLock { $0.isHeld = true }
    }

    /// Delivers everything that was held, in order.
    public func release() {
        cloud.note("\(name) is released")
        machine.network.withLock { $0.isHeld = false }
        cloud.letGo(machine)
    }

    /// Drops the next messages of a kind. A lost request or answer times out after 30 seconds and is retried.
    public func dropNext(_ count: Int = 1, _ message: Message) {
        machine.network.withLock { $0.drops[message] = count }
    }

    /// Duplicates the next requests; the copies arrive up to two seconds later.
    public func duplicateNext(_ count: Int = 1) {
        machine.network.withLock { $0.duplicates = count }
    }

    /// Whether each message takes up to two more seconds, so that a later one may arrive first. Events of one stream keep
    /// their order, as on one connection.
    public var isReordering: Bool {
        get { machine.network.withLock { $0.isReordering } }
        nonmutating set { machine.network.withLock { $0.isReordering = newValue } }
    }

    /// An additional delay of every message in each direction. A round trip of more than 30 seconds fails.
    public var delay: Duration {
        get { .milliseconds(machine.network.withLock { $0.delay }) }
        nonmutating set { machine.network.withLock { $0.delay = max(0, newValue.milliseconds) } }
    }

    /// How many requests the cloud accepts from the device; nil, the default, for any number.
    ///
    /// ```swift
    /// phone.throttle = .observedOfApple
    /// ```
    public var throttle: CloudThrottle? {
        get { machine.network.withLock { $0.throttle } }
        nonmutating set {
            machine.network.withLock { network in
                network.throttle = newValue
                network.requestTimes = []
            }
        }
    }

    /// Makes the next request fail without reaching the cloud; a second call, the one after it.
    ///
    /// ```swift
    /// phone.failNextRequest(with: .unauthorized("the token was revoked"))
    /// ```
    public func failNextRequest(
        with error: SyncTransportError = .unreachable("the connection broke")
    ) {
        machine.network.withLock { $0.failures.append(error) }
    }
}
