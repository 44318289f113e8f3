import Foundation
import KVStore
import KVStoreCore
import KVStoreSimulation
import Synchronization

/// A simulated process that has its device's replica open, through all its restarts.
final class Program: Sendable {
    private struct State {
        var run: Run?
        /// Kept, as an observer of one would hear of a later store at the same address.
        var ended: [UbiquitousKeyValueStore] = []
        var notifications: [CloudNotification] = []
        /// Those that the cloud has not taken note of.
        var unlogged: [(CloudNotification, Responses)] = []
        var isDelivering = false
    }

    /// From one start to its end.
    struct Run: Sendable {
        let store: UbiquitousKeyValueStore
        let life: Life
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
    func takeUnlogged() -> [(CloudNotification, Responses)] {
        state.withLock { state in
            defer { state.unlogged = [] }
            return state.unlogged
        }
    }

    /// Goes on with a freshly opened store.
    func start(_ store: UbiquitousKeyValueStore, life: Life) {
        state.withLock { state in
            if let run = state.run { state.ended.append(run.store) }
            state.run = Run(store: store, life: life)
        }
    }

    /// Posts on the device's own center, and on `NotificationCenter.default` as `CloudDevice.notificationCenter`
    /// describes. To observers `UbiquitousKeyValueStore.default` is the store that the notification is about.
    func post(_ announcement: StoreAnnouncement, of objects: [UbiquitousKeyValueStore], on machine: Machine) {
        let responses = Responses()
        defer { responses.complete() }
        if case .change(let change) = announcement {
            let notification = CloudNotification(
                time: VirtualClock.date(machine.clock.wall), reason: change.reason, keys: change.keys.sorted())
            state.withLock { state in
                state.notifications.append(notification)
                state.unlogged.append((notification, responses))
            }
        } else {
            responses.complete()
        }
        guard let store = run?.store ?? objects.first else { return }
        let isApp = name == CloudDevice.appProcess
        let isDefault = isApp && machine.defaults.contains(machine.name)
        // Foundation calls an observer with a queue as an operation, outside of this task.
        let device = SimulatedDefault(
            label, of: machine.defaults, .notification(isOfUser: !machine.defaults.isEmpty),
            isHere: { Thread.isMainThread || OperationQueue.current != nil }, store: { store })
        Responses.$current.withValue(responses) {
            DefaultStore.simulate(device) {
                switch announcement {
                case .change:
                    for object in objects { object.post(announcement, to: machine.center) }
                    guard isDefault || machine.defaults.isEmpty else { return }
                    for object in isDefault ? DefaultStore.objects : objects {
                        object.post(announcement, to: .default)
                    }
                case .identityChange:
                    if isApp { store.post(announcement, to: machine.center) }
                    if isDefault { store.post(announcement, to: .default) }
                }
            }
        }
    }

    /// Ends the run: an orderly one writes everything to disk, a killed one no longer can.
    func end(isOrderly: Bool) {
        guard let run = state.withLock({ $0.run }) else { return }
        if !isOrderly { run.life.end() }
        run.store.close()
        run.life.end()
    }
}
