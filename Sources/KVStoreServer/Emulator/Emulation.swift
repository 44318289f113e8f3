import Essentials
import KVStoreCore
import KVStoreWire

/// Limits, events and decisions of an emulator, and the rules by which it admits requests. Safe to call from any thread.
final class Emulation: Sendable {
    let limits: EmulatorLimits
    let events: EmulatorEvents
    let decisions: DecisionLog

    /// - Parameter replica: of the server's own writes.
    init(limits: EmulatorLimits, replica: ReplicaID, now: @escaping @Sendable () -> Int64) {
        self.limits = limits
        decisions = DecisionLog(limits, replica: replica, now: now)
        events = EmulatorEvents(limits, now: now)
    }

    /// Refuses requests of web pages of other sites: with a name that DNS resolves to this machine, a page has the same
    /// origin as its requests, and a browser omits `Origin` where the page cannot read the answer.
    static func admit(_ fields: RequestFields) throws(Problem) {
        if let site = fields.fetchSite, site != "same-origin", site != "none" {
            throw .foreignOrigin
        }
        guard let host = fields.host else { return }
        let name = host.hasSuffix("]") || !host.contains(":") ? host + ":80" : host
        guard ListenAddress(name)?.isLoopback == true else { throw .foreignHost }
    }

    // MARK: - Events

    /// Reports the live stream as one of its device while the slot exists.
    func observing(_ slot: StreamSlot, of device: Device, _ store: StoreID) -> StreamSlot {
        let (events, name) = (events, device.name)
        events.append(.connected(store: store.name, device: name), world: store.account)
        return StreamSlot {
            withExtendedLifetime(slot) {}
            events.append(.disconnected(store: store.name, device: name), world: store.account)
        }
    }
}
