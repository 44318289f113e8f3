public import KVStore
import Synchronization

/// What the network between a device and the cloud does. By default every message arrives after 10 to 30
/// milliseconds.
extension CloudDevice {
    /// What travels between a device and the cloud.
    public enum Message: Sendable, Hashable, CaseIterable {
        /// Up: a device sends its changes and asks for news.
        case request
        /// Down: what came of a request. When it is lost the cloud has the changes and the device does not
        /// know.
        case answer
        /// Down: a change on the live stream. A stream that loses one breaks.
        case event
    }

    /// Whether the device has no network. Requests fail at once, the live stream breaks, and what is on its way is
    /// lost. Back online, the device tries again by itself within half a minute.
    public var isOffline: Bool {
        get { machine.state.withLock { $0.network.isOffline } }
        nonmutating set {
            let isNews = machine.state.withLock { state in
                defer { state.network.isOffline = newValue }
                return state.network.isOffline != newValue
            }
            guard isNews else { return }
            cloud.note("\(name) is \(newValue ? "offline" : "online")")
            if newValue { cloud.disconnect(machine) }
        }
    }

    /// Whether messages are held back.
    public var isHeld: Bool { machine.state.withLock { $0.network.isHeld } }

    /// Holds back every message that arrives from now on in either direction, until `release`.
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
        machine.state.withLock { $0.network.isHeld = true }
    }

    /// Lets everything go that was held, in its order.
    public func release() {
        cloud.note("\(name) is released")
        machine.state.withLock { $0.network.isHeld = false }
        cloud.letGo(machine)
    }

    /// Loses the next messages of a kind. A lost request or answer is noticed after 30 seconds and tried again.
    public func dropNext(_ count: Int = 1, _ message: Message) {
        machine.state.withLock { $0.network.drops[message] = count }
    }

    /// Has the next requests arrive twice, the second time up to two seconds later.
    public func duplicateNext(_ count: Int = 1) {
        machine.state.withLock { $0.network.duplicates = count }
    }

    /// Whether messages take up to two seconds more, each for itself, so that a later one may arrive first. Those of one
    /// stream keep their order, as those of one connection do.
    public var isReordering: Bool {
        get { machine.state.withLock { $0.network.isReordering } }
        nonmutating set { machine.state.withLock { $0.network.isReordering = newValue } }
    }

    /// What every message takes longer in each direction. A round trip that takes more than 30 seconds fails.
    public var delay: Duration {
        get { .milliseconds(machine.state.withLock { $0.network.delay }) }
        nonmutating set {
            machine.state.withLock { $0.network.delay = max(0, newValue.milliseconds) }
        }
    }

    /// How many requests the cloud takes from the device; nil, as at first, for any number.
    ///
    /// ```swift
    /// phone.throttle = .observedOfApple
    /// ```
    public var throttle: CloudThrottle? {
        get { machine.state.withLock { $0.network.throttle } }
        nonmutating set {
            machine.state.withLock { state in
                state.network.throttle = newValue
                state.network.requestTimes = []
            }
        }
    }

    /// Has the next request fail without reaching the cloud; called again, the one after it.
    ///
    /// ```swift
    /// phone.failNextRequest(with: .unauthorized("the token was revoked"))
    /// ```
    public func failNextRequest(
        with error: SyncTransportError = .unreachable("the connection broke")
    ) {
        machine.state.withLock { $0.network.failures.append(error) }
    }
}
