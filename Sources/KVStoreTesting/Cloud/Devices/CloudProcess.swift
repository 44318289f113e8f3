public import KVStore

/// A process of a `CloudDevice`, with a store of its own on the device's replica.
public struct CloudProcess: Sendable {
    let program: Program
    let cloud: SimulatedCloud

    public var name: String { program.name }

    /// The real thing. Another object after a restart.
    public var store: UbiquitousKeyValueStore {
        guard let run = program.run else { preconditionFailure("a process has been started") }
        return run.store
    }

    /// What its store has posted, oldest first; complete after `advance` and `settle`.
    public var notifications: [CloudNotification] { program.notifications }

    /// Ends this process and starts it again. A power failure ends all processes of the device.
    public func restart(after end: CloudDevice.End = .quit) throws(StoreError) {
        let machine = program.machine
        try cloud.restart(end == .powerFailure ? machine.programs : [program], after: end)
    }
}
