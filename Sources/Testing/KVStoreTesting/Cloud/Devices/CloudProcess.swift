public import KVStore

/// A process of a `CloudDevice`, with its own store on the device's replica.
///
/// ```swift
/// let widget = try phone.process("widget")
/// widget.store.set("dark", forKey: "theme")
/// try widget.restart()
/// ```
public struct CloudProcess: Sendable {
    let program: Program
    let cloud: SimulatedCloud

    /// The name it was started with, unique on its device.
    public var name: String { program.name }

    /// A real store. A new object after a restart.
    public var store: UbiquitousKeyValueStore {
        guard let run = program.run else { preconditionFailure("a process has been started") }
        return run.store
    }

    /// The notifications of its store, oldest first; complete after `advance` and `settle`.
    public var notifications: [CloudNotification] { program.notifications }

    /// Ends this process and starts it again. A power failure ends all processes of the device.
    public func restart(after end: CloudDevice.End = .quit) throws(StoreError) {
        try cloud.restart(program, after: end)
    }
}
