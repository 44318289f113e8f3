/// The network between one device and the cloud: its faults, and the messages that they hold.
package struct DeviceNetwork<Message: Sendable>: Sendable {
    /// What becomes of a message at the time of its arrival.
    package enum Arrival: Sendable, Equatable {
        case passes
        /// It is kept until `takeReleased`.
        case held
        /// The device is offline.
        case lost
    }

    package var faults = NetworkFaults()
    private var held: [(kind: NetworkFault.Message, message: Message)] = []

    package init() {}

    /// In the order of their arrival.
    package var heldMessages: [Message] { held.map(\.message) }

    /// - Parameter kind: as `NetworkFaults.holds` takes it; the opening of a stream counts as an event.
    package mutating func arrival(of message: Message, _ kind: NetworkFault.Message) -> Arrival {
        if faults.isOffline { return .lost }
        guard faults.holds(kind) else { return .passes }
        held.append((kind, message))
        return .held
    }

    /// Takes the messages that are no longer held, in the order of their arrival. They arrive once more, before all
    /// others, and are lost if the device is offline.
    package mutating func takeReleased() -> [Message] {
        let isHeld = { [faults] (kind: NetworkFault.Message) in
            !faults.isOffline && faults.holds(kind)
        }
        defer { held.removeAll { !isHeld($0.kind) } }
        return held.filter { !isHeld($0.kind) }.map(\.message)
    }
}
