/// A simulated device whose store is the default one: in a task, and for as long as it is active wherever no task says
/// otherwise, such as on the main queue.
package final class SimulatedDefault: Sendable {
    /// What makes the device the default one.
    package enum Cause: Sendable, Equatable {
        /// The developer chose it.
        case choice
        /// Its observers are being called. `isOfUser` of a cloud of which a device was ever chosen.
        case notification(isOfUser: Bool)
    }

    let name: String
    let cloud: ObjectIdentifier
    private let cause: Cause
    private let outer: SimulatedDefault?
    private let find: @Sendable () -> UbiquitousKeyValueStore
    private let isHere: @Sendable () -> Bool

    /// - Parameters:
    ///   - name: identifies the device to the developer.
    ///   - cloud: the object that all devices of its cloud share.
    ///   - isHere: whether the code that asks may be what the device is the default one for.
    ///   - store: the device's store, which may be another one after a restart.
    package init(
        _ name: String, of cloud: AnyObject, _ cause: Cause, isHere: @escaping @Sendable () -> Bool = { true },
        store: @escaping @Sendable () -> UbiquitousKeyValueStore
    ) {
        self.name = name
        self.cloud = ObjectIdentifier(cloud)
        self.cause = cause
        self.isHere = isHere
        outer = DefaultStore.simulated
        find = store
    }

    var store: UbiquitousKeyValueStore { find() }

    /// Those of the active ones that code outside of their tasks may mean: more than one is ambiguous.
    ///
    /// An observer means the device that notifies it, and one choice within another replaces it. A cloud of which no
    /// device was ever chosen counts only if there is no other.
    static func candidates(among active: [SimulatedDefault]) -> [SimulatedDefault] {
        let present = active.filter { $0.isHere() }
        let all = present.isEmpty ? active : present
        let notifying = Set(all.filter { $0.cause != .choice }.map(\.cloud))
        var found = all.filter { device in
            device.cause != .choice || !notifying.contains(device.cloud) && !all.contains { $0.outer === device }
        }
        let isOfUser = { (device: SimulatedDefault) in
            device.cause != .notification(isOfUser: false)
        }
        if found.contains(where: isOfUser) { found.removeAll { !isOfUser($0) } }
        var stores: Set<ObjectIdentifier> = []
        return found.filter { stores.insert(ObjectIdentifier($0.store)).inserted }
    }
}
