import KVStore
import Synchronization

extension SimulatedCloud {
    /// Runs code for which a device's app store is `UbiquitousKeyValueStore.default`: in this task, its child tasks and
    /// its unstructured tasks, also for code that captured `default` earlier, and in observers of the device's
    /// notifications.
    ///
    /// As long as it runs, the user's own default store is not opened. Detached tasks, other threads and Dispatch
    /// queues use the device too, and observers with an operation queue, such as `.main`, the device that notifies
    /// them. Where that could be several devices, as in concurrent tests, the program stops with a message that names
    /// them. Wait for such code before the end, after which it uses the user's own store.
    ///
    /// Notifications come from `UbiquitousKeyValueStore.default`, on `NotificationCenter.default`, and not from the
    /// device's store. Observers there hear the default devices of all clouds: serialize tests with such
    /// observers, or let them observe `CloudDevice.notificationCenter`.
    ///
    /// ```swift
    /// try await cloud.withDefault(phone) {
    ///     Appearance().theme = "dark"         // uses UbiquitousKeyValueStore.default
    ///     try await cloud.settle()
    /// }
    /// #expect(mac.store.string(forKey: "theme") == "dark")
    /// ```
    public func withDefault<Result>(
        _ device: CloudDevice, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        defaults.insert(device.name)
        return try await DefaultStore.simulate(device.asDefault(), isolation: isolation, body)
    }

    /// The same for code that does not suspend.
    public func withDefault<Result>(_ device: CloudDevice, _ body: () throws -> Result) rethrows -> Result {
        defaults.insert(device.name)
        return try DefaultStore.simulate(device.asDefault(), body)
    }
}

extension CloudDevice {
    fileprivate func asDefault() -> SimulatedDefault {
        SimulatedDefault(name, of: machine.defaults, .choice) { store }
    }
}

/// The names of the devices that have been the default one.
final class DefaultDevices: Sendable {
    private let names = Mutex<Set<String>>([])

    var isEmpty: Bool { names.withLock { $0.isEmpty } }

    func contains(_ name: String) -> Bool { names.withLock { $0.contains(name) } }

    func insert(_ name: String) { names.withLock { _ = $0.insert(name) } }
}
