public import KVStore
public import KVStoreSimulation
import Synchronization

/// The network between a device and the cloud. By default every message arrives after 10 to 30 milliseconds.
extension CloudDevice {
    /// A kind of message between a device and the cloud.
    public typealias Message = NetworkFault.Message

    /// Lets a fault take effect, besides those that are in effect already.
    ///
    /// ```swift
    /// phone.inject(NetworkFault(.drop, of: [.answer], probability: 0.3, for: .seconds(60)))
    /// ```
    ///
    /// - Returns: removes the fault.
    @discardableResult
    public func inject(_ fault: NetworkFault) -> @Sendable () -> Void {
        let id = cloud.inject(fault, on: machine)
        return { [weak cloud, weak machine] in
            guard let cloud, let machine else { return }
            cloud.removeFaults(of: machine) { $0.id == id }
        }
    }

    /// The faults that are in effect, oldest first.
    public var faults: [NetworkFault] {
        machine.network.withLock { $0.faults.active.map(\.fault) }
    }

    /// Ends all faults.
    public func removeFaults() { cloud.removeFaults(of: machine) }

    private func replace(_ fault: NetworkFault?, where isReplaced: (NetworkFault) -> Bool) {
        let former = machine.network.withLock { network in
            network.faults.active.filter { isReplaced($0.fault) }.map(\.id)
        }
        if let fault { _ = cloud.inject(fault, on: machine) }
        if !former.isEmpty { cloud.removeFaults(of: machine) { former.contains($0.id) } }
    }

    /// Whether the device has no network. Requests fail at once, the live stream breaks, and messages in transit are
    /// lost. Back online, the device retries within half a minute.
    public var isOffline: Bool {
        get { machine.network.withLock { $0.faults.isOffline } }
        nonmutating set {
            guard newValue != isOffline else { return }
            replace(newValue ? NetworkFault(.offline) : nil) { $0.effect == .offline }
        }
    }

    /// Whether messages are held back.
    public var isHeld: Bool { faults.contains { $0.effect == .hold } }

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
    public func hold() { replace(NetworkFault(.hold)) { $0.effect == .hold } }

    /// Delivers everything that was held, in order.
    public func release() {
        replace(nil) { $0.effect == .hold }
        cloud.letGo(machine)
    }

    /// Drops the next messages of a kind. A lost request or answer times out after 30 seconds and is retried.
    public func dropNext(_ count: Int = 1, _ message: Message) {
        replace(count > 0 ? NetworkFault(.drop, of: [message], count: count) : nil) {
            $0.effect == .drop && $0.messages == [message] && $0.count != nil
        }
    }

    /// Duplicates the next requests; the copies arrive up to two seconds later.
    public func duplicateNext(_ count: Int = 1) {
        replace(count > 0 ? NetworkFault(.duplicate, count: count) : nil) {
            $0.effect == .duplicate
        }
    }

    /// Whether each message takes up to two more seconds, so that a later one may arrive first. Events of one stream
    /// keep their order, as on one connection.
    public var isReordering: Bool {
        get { faults.contains { $0.isReordering } }
        nonmutating set {
            replace(newValue ? NetworkFault(.reorder(within: .seconds(2))) : nil) {
                $0.isReordering
            }
        }
    }

    /// An additional delay of every message in each direction. A round trip of more than 30 seconds fails.
    public var delay: Duration {
        get { faults.compactMap(\.permanentDelay).reduce(.zero, +) }
        nonmutating set {
            replace(newValue > .zero ? NetworkFault(.delay(newValue)) : nil) {
                $0.permanentDelay != nil
            }
        }
    }

    /// How many requests the cloud accepts from the device; nil, the default, for any number.
    ///
    /// ```swift
    /// phone.throttle = .observedOfApple
    /// ```
    public var throttle: CloudThrottle? {
        get { faults.compactMap(\.throttle).last }
        nonmutating set {
            replace(newValue.map { NetworkFault(.throttle($0)) }) { $0.throttle != nil }
        }
    }

    /// Makes the next request fail without reaching the cloud; a second call, the one after it.
    ///
    /// ```swift
    /// phone.failNextRequest(with: .unauthorized("the token was revoked"))
    /// ```
    public func failNextRequest(with error: SyncTransportError = .unreachable("the connection broke")) {
        inject(NetworkFault(.fail(error), count: 1))
    }
}

extension NetworkFault {
    fileprivate var isReordering: Bool { if case .reorder = effect { true } else { false } }

    fileprivate var throttle: CloudThrottle? {
        if case .throttle(let throttle) = effect { throttle } else { nil }
    }

    /// As `CloudDevice.delay` sets it.
    fileprivate var permanentDelay: Duration? {
        guard case .delay(let duration) = effect, timeToLive == nil,
            messages.count == Message.allCases.count
        else { return nil }
        return duration
    }
}
