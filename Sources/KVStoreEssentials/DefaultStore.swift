import KVStoreCore
import Synchronization

/// What `UbiquitousKeyValueStore.default`, and every object made by `init()`, stands for.
package enum DefaultStore {
    private struct State {
        var configuration = StoreConfiguration(
            directory: StoreDirectories.replica(
                account: nil, storeName: StoreConfiguration.defaultStoreName))
        var engine: StoreEngine?
        var objects: [Weak<UbiquitousKeyValueStore>] = []
    }

    private static let state = Mutex(State())

    package static let object = UbiquitousKeyValueStore()

    /// The store that is the default one in this task instead of the user's.
    @TaskLocal package static var simulated: (@Sendable () -> UbiquitousKeyValueStore)?

    static var engine: StoreEngine {
        if let simulated { return simulated().engine }
        return state.withLock { state in
            if let engine = state.engine { return engine }
            do throws(StoreError) {
                let engine = try StoreEngine.open(state.configuration)
                for object in state.objects.compactMap(\.object) { engine.attach(object) }
                state.engine = engine
                return engine
            } catch {
                Diagnostics.stop(error.description)
            }
        }
    }

    /// Does not open the store.
    package static var configuration: StoreConfiguration {
        if let simulated { return simulated().configuration }
        return state.withLock { $0.engine?.configuration ?? $0.configuration }
    }

    static func setConfiguration(_ configuration: StoreConfiguration) {
        state.withLock { state in
            guard state.engine == nil else {
                Diagnostics.stop(
                    "setDefaultConfiguration(_:) was called after the default store had been opened; "
                        + "call it before the first use, or changeAccount(to:)")
            }
            state.configuration = configuration
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
