import Foundation
import KVStore
import KVStoreCore
import KVStoreSimulation
import Synchronization

/// A simulated device: its clock, its network, its replicas and its processes.
final class Machine: Sendable {
    struct State {
        /// What its clock is ahead of the true time, in milliseconds.
        var clockError: Int64 = 0
        var account: String?
        /// Replicas' directories by their paths.
        var directories: [String: ReplicaDirectory] = [:]
        /// In the order of their opening; the app's is the first.
        var programs: [Program] = []
        /// Those that try again once there is a network.
        var waiting: [CloudDriver] = []
    }

    let name: String
    let options: CloudDevice.Options
    let clock: VirtualClock
    let defaults: DefaultDevices
    let center = NotificationCenter()
    let state: Mutex<State>
    let network = Mutex(DeviceNetwork<SimulatedCloud.Action>())
    /// Held while a program is opened.
    let opening = Mutex(())

    init(name: String, options: CloudDevice.Options, clock: VirtualClock, defaults: DefaultDevices) {
        self.defaults = defaults
        self.name = name
        self.options = options
        self.clock = clock
        state = Mutex(State(clockError: options.clockError.milliseconds, account: options.account))
    }

    var instant: Instant { clock.instant(aheadBy: state.withLock { $0.clockError }) }

    var programs: [Program] { state.withLock { $0.programs } }

    /// Whether what is waited for can come without anybody's help.
    var isReachable: Bool { network.withLock { $0.isReachable } }
}

extension DeviceNetwork {
    private var holdsExchanges: Bool { faults.holds(.request) || faults.holds(.answer) }

    /// Whether requests are answered.
    var isReachable: Bool { !faults.isOffline && !holdsExchanges }

    /// Whether they are not until somebody ends a fault.
    var holdsExchangesForever: Bool { holdsExchanges && faults.nextEnd == nil }

    /// Whether messages or attempts wait for a fault to end by itself.
    var awaitsEnd: Bool {
        faults.active.contains {
            $0.end != nil && ($0.fault.effect == .offline || $0.fault.effect == .hold)
        }
    }
}
