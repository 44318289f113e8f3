import KVStoreCore
import Synchronization

/// What `UbiquitousKeyValueStore.default`, and every object made by `init()`, stands for.
package enum DefaultStore {
    private struct State {
        var configuration = StoreConfiguration(
            directory: StoreDirectories.replica(account: nil, storeName: StoreConfiguration.defaultStoreName))
        var isConfigured = false
        var engine: StoreEngine?
        var objects: [Weak<UbiquitousKeyValueStore>] = []
        /// While there are any, the user's own store is not opened.
        var simulated: [SimulatedDefault] = []
    }

    private static let state = Mutex(State())

    package static let object = UbiquitousKeyValueStore()

    /// The device whose store is the default one in this task instead of the user's.
    @TaskLocal static var simulated: SimulatedDefault?

    static var engine: StoreEngine {
        while true {
            if let device = simulatedHere { return device.store.engine }
            if let engine = userEngine { return engine }
        }
    }

    /// Nil while a simulated device is the default one anywhere.
    private static var userEngine: StoreEngine? {
        state.withLock { state in
            guard state.simulated.isEmpty else { return nil }
            if let engine = state.engine { return engine }
            do throws(StoreError) {
                let engine = try StoreEngine.open(state.configuration)
                if !state.isConfigured {
                    Diagnostics.write(
                        "UbiquitousKeyValueStore: the default store is \(state.configuration.directory), as that of every "
                            + "program that does not call setDefaultConfiguration(_:) first")
                }
                for object in state.objects.compactMap(\.object) { engine.attach(object) }
                state.engine = engine
                return engine
            } catch {
                Diagnostics.stop(error.description)
            }
        }
    }

    /// The device that is the default one in this task, else the only one that is active. Several stop the program.
    private static var simulatedHere: SimulatedDefault? {
        if let simulated { return simulated }
        let active = state.withLock(\.simulated)
        let devices = SimulatedDefault.candidates(among: active)
        guard devices.count > 1 else { return devices.first }
        let clouds = Set(devices.map(\.cloud)).count
        Diagnostics.stop(
            "UbiquitousKeyValueStore.default was used outside of the tasks of withDefault(_:_:) while it is the store of "
                + "several simulated devices: " + devices.map(\.name).sorted().joined(separator: ", ")
                + (clouds > 1 ? " (of \(clouds) clouds)" : "")
                + "; run such tests one after the other, or pass the device's store to the code")
    }

    /// Does not open the store.
    package static var configuration: StoreConfiguration {
        if let device = simulatedHere { return device.store.configuration }
        return state.withLock { $0.engine?.configuration ?? $0.configuration }
    }

    /// Runs the body with a device as the default one.
    package static func simulate<Result>(
        _ device: SimulatedDefault, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        activate(device)
        defer { deactivate(device) }
        return try await $simulated.withValue(device, operation: body, isolation: isolation)
    }

    /// The same for code that does not suspend.
    package static func simulate<Result>(_ device: SimulatedDefault, _ body: () throws -> Result) rethrows -> Result {
        activate(device)
        defer { deactivate(device) }
        return try $simulated.withValue(device, operation: body)
    }

    private static func activate(_ device: SimulatedDefault) {
        state.withLock { $0.simulated.append(device) }
    }

    private static func deactivate(_ device: SimulatedDefault) {
        state.withLock { $0.simulated.removeAll { $0 === device } }
    }

    static func setConfiguration(_ configuration: StoreConfiguration) {
        state.withLock { state in
            guard state.engine == nil else {
                Diagnostics.stop(
                    "setDefaultConfiguration(_:) was called after the default store had been opened; "
                        + "call it before the first use, or changeAccount(to:)")
            }
            state.configuration = configuration
            state.isConfigured = true
        }
    }

    /// Every living object that stands for the default store, `default` among them.
    package static var objects: [UbiquitousKeyValueStore] {
        withExtendedLifetime(object) { state.withLock { $0.objects.compactMap(\.object) } }
    }

    static func attach(_ object: UbiquitousKeyValueStore) {
        let engine = state.withLock { state in
            state.objects.removeAll { $0.object == nil }
            state.objects.append(Weak(object: object))
            return state.engine
        }
        engine?.attach(object)
    }
}

extension StoreEngine {
    /// Opens a store of this user, or of the simulated device that the configuration is for.
    static func open(_ configuration: StoreConfiguration) throws(StoreError) -> StoreEngine {
        if let open = configuration.openSimulated {
            let store = try open(configuration)
            // Notifications come from the object that is opened now.
            store.engine.detach(store)
            return store.engine
        }
        return try StoreEngine(configuration: configuration, runtime: .system)
    }
}

/// A reference that does not keep its object.
struct Weak<Object: AnyObject & Sendable>: Sendable {
    weak var object: Object?
}
