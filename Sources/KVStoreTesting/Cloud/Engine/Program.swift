import Foundation
import KVStore
import KVStoreCore
import Synchronization

/// A simulated process that has its device's replica open, through all its restarts.
final class Program: Sendable {
    private struct State {
        var run: Run?
        var notifications: [CloudNotification] = []
        /// How many of them the cloud has taken note of.
        var notedCount = 0
        var isDelivering = false
    }

    /// From one start to its end.
    struct Run: Sendable {
        let store: UbiquitousKeyValueStore
        let life: Life
        fileprivate let observation: Observation
    }

    let name: String
    /// Unowned, as the machine has its programs and is never without them.
    unowned let machine: Machine
    private let state = Mutex(State())

    init(name: String, machine: Machine) {
        self.name = name
        self.machine = machine
    }

    /// The device's name, and for all but the app's process its own.
    var label: String {
        name == CloudDevice.appProcess ? machine.name : "\(machine.name)/\(name)"
    }

    /// Nil only before the first start.
    var run: Run? { state.withLock { $0.run } }

    var notifications: [CloudNotification] { state.withLock { $0.notifications } }

    /// Whether what the store announces now comes from the cloud and not from the app's own calls.
    var isDelivering: Bool {
        get { state.withLock { $0.isDelivering } }
        set { state.withLock { $0.isDelivering = newValue } }
    }

    /// What it has posted since the last call.
    func takeUnnoted() -> [CloudNotification] {
        state.withLock { state in
            defer { state.notedCount = state.notifications.count }
            return Array(state.notifications[state.notedCount...])
        }
    }

    /// Goes on with a freshly opened store.
    func start(_ store: UbiquitousKeyValueStore, life: Life) {
        let clock = machine.clock
        let observation = Observation(of: store) { [weak self] change in
            let notification = CloudNotification(
                time: VirtualClock.date(clock.wall),
                reason: change.reason, keys: change.keys.sorted())
            self?.state.withLock { $0.notifications.append(notification) }
        }
        let run = Run(store: store, life: life, observation: observation)
        state.withLock { $0.run = run }
    }

    /// Ends the run: an orderly one writes everything to disk, a killed one no longer can.
    func end(isOrderly: Bool) {
        guard let run = state.withLock({ $0.run }) else { return }
        if !isOrderly { run.life.end() }
        run.store.close()
        run.life.end()
    }
}

/// Listens to the notifications of one store for as long as it lives. Unchecked because the centre's tokens,
/// which any thread may hand back, are not declared sendable.
private final class Observation: @unchecked Sendable {
    private let token: any NSObjectProtocol

    init(of store: UbiquitousKeyValueStore, _ heard: @escaping @Sendable (StoreChange) -> Void) {
        token = NotificationCenter.default.addObserver(
            forName: UbiquitousKeyValueStore.didChangeExternallyNotification, object: store,
            queue: nil
        ) { note in
            guard
                let raw = note.userInfo?[NSUbiquitousKeyValueStoreChangeReasonKey] as? Int,
                let reason = StoreChangeReason(rawValue: raw),
                let keys = note.userInfo?[NSUbiquitousKeyValueStoreChangedKeysKey] as? [String]
            else { return }
            heard(StoreChange(reason: reason, keys: keys))
        }
    }

    deinit { NotificationCenter.default.removeObserver(token) }
}
