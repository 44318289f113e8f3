import Essentials
import KVStoreCore
import KVStoreSimulation
import KVStoreWire
import Synchronization

/// The limits, events, decisions and worlds of an emulator. Safe to call from any thread.
final class Emulation: Sendable {
    let limits: EmulatorLimits
    let events: EmulatorEvents
    let decisions: DecisionLog
    let clock: SessionClock
    /// Nil unless the session is recorded or replayed.
    let recorder: EmulatorRecorder?
    /// Whether a record alone says what happens, and when.
    let isReplaying: Bool
    private let defaults: WorldSettings
    /// Those that are not as they began.
    private let worlds = Mutex<[String: EmulatedWorld]>([:])

    /// - Parameters:
    ///   - replica: of the server's own writes.
    ///   - defaults: of each world; its seed is combined with the name of the world.
    init(
        limits: EmulatorLimits, replica: ReplicaID, defaults: WorldSettings, clock: SessionClock,
        recorder: EmulatorRecorder? = nil, isReplaying: Bool = false
    ) {
        self.limits = limits
        self.defaults = defaults
        self.clock = clock
        self.recorder = recorder
        self.isReplaying = isReplaying
        events = EmulatorEvents(limits)
        decisions = DecisionLog(limits, replica: replica)
    }

    // MARK: - Worlds

    func world(_ name: String) -> EmulatedWorld {
        worlds.withLock { $0[name] } ?? beginning(name)
    }

    func change<Value: Sendable>(_ name: String, _ body: (inout EmulatedWorld) -> Value) -> Value {
        let beginning = beginning(name)
        return worlds.withLock { body(&$0[name, default: beginning]) }
    }

    /// Those that are not as they began.
    var changedWorlds: [String] { worlds.withLock { Array($0.keys) } }

    /// As `change`, unless the world is as it began.
    @discardableResult
    func changePresent<Value: Sendable>(
        _ name: String, _ body: (inout EmulatedWorld) -> Value
    ) -> Value? {
        worlds.withLock { worlds in
            guard worlds[name] != nil else { return nil }
            return body(&worlds[name]!)
        }
    }

    /// Makes a world what it was in the beginning, apart from the decisions.
    func reset(_ name: String) {
        worlds.withLock { $0[name] = nil }
        publish(.reset, in: name)
    }

    /// The account of a device as the engine names it; nil while the device is signed out.
    func account(of device: String, in world: String) -> String? {
        guard let found = self.world(world).devices[device] else { return world }
        return found.account.map { EmulatedAccount.id($0, in: world) }
    }

    private func beginning(_ name: String) -> EmulatedWorld {
        var settings = defaults
        // A number that every JSON reader keeps exactly.
        settings.seed = (settings.seed ^ FNV1a.hash(name.utf8)) & ((1 << 53) - 1)
        return EmulatedWorld(settings: settings)
    }

    /// Milliseconds since 1970 by this machine's clock.
    func now() -> Int64 { clock.now() }

    /// The time of a world.
    func time(in world: String) -> Int64 { self.world(world).clock.time(now()) }

    /// The time of the world of an account, as the engine names it.
    func time(of account: String) -> Int64 { time(in: EmulatedAccount.world(of: account)) }

    // MARK: - Events

    func publish(_ content: EmulatorEvents.Content, in world: String) {
        publish(content, in: world, account: nil)
    }

    /// An event of a store.
    func publish(_ content: EmulatorEvents.Content, in store: StoreID) {
        publish(content, in: store.world, account: store.otherAccount)
    }

    /// - Parameter account: nil for the one that a world begins with.
    private func publish(_ content: EmulatorEvents.Content, in world: String, account: String?) {
        let event = events.append(content, world: world, account: account, time: time(in: world))
        recorder?.record(event)
    }
}
