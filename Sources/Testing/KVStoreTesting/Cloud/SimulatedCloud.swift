// What app developers test with: several devices with real stores in one process, under virtual
// time and faults, and a fake store for unit tests. Not here: anything with a socket, which is the
// emulator's (KVStoreEmulator).

public import Foundation
public import KVStore
import KVStoreCore
@_exported public import KVStoreSimulation
import Synchronization

/// A cloud and its devices in one process, for tests of code that syncs through a key-value store.
///
/// Devices provide real `UbiquitousKeyValueStore` objects, and the cloud runs the daemon's own merge rule and log;
/// only disks, network and clocks are simulated. Time passes, and messages move, only when the test says so. The same
/// seed and the same calls produce the same events.
///
/// ```swift
/// let cloud = SimulatedCloud(seed: 1)
/// let phone = try cloud.device("phone")
/// let mac = try cloud.device("mac")
/// phone.store.set("dark", forKey: "theme")
/// try await cloud.settle()
/// #expect(mac.store.string(forKey: "theme") == "dark")
/// ```
///
/// Clouds share no state, so tests may run concurrently. All members may be called from any thread. A store may outlive
/// its cloud and is then permanently offline.
public final class SimulatedCloud: Sendable {
    struct State {
        var agenda = Agenda<Action>()
        var random: SplitMix64
        var machines: [String: Machine] = [:]
        /// Whose observers may have something to hear.
        var undelivered: [Program] = []
        /// Whose observers are being called.
        var delivering: Program?
        /// During the settling under way, or the last one.
        var writes = WriteCounts(since: .distantPast)
        /// Whether the app's own tasks may sleep on the cloud's clock.
        var hasSleepers = false
        /// Whether calls of `synchronizeNow` have been completed since tasks last had a chance to run.
        var hasCompletions = false
        /// How much tasks have done so far that the cloud can see.
        var activity = 0
        var isStrict = false
        /// Since a strict cloud last settled.
        var droppedWrites: [String] = []
        var decisions: [CloudDecision] = []
        var trace = Trace()
        /// The devices' names by the ids of their replicas.
        var writers: [ReplicaID: String] = [:]
        /// The latest driver of each program, by the program's label.
        var drivers: [String: CloudDriver] = [:]
    }

    let virtualClock = VirtualClock()
    /// Nil without a record.
    let recorder: CloudRecorder?
    let state: Mutex<State>
    let hub: Mutex<CloudHub>
    let defaults = DefaultDevices()
    /// Held while an action is performed and its notifications are delivered.
    let stepping = AsyncLock()

    /// The account that devices join by default.
    public static let defaultAccount = "account"

    /// - Parameters:
    ///   - seed: determines replica ids, delays and back-off.
    ///   - isStrict: the initial value of `isStrict`.
    ///   - record: the path of a file for a record, which the emulator's page opens and `init(replaying:record:)`
    ///     repeats; nil for
    ///     none. It is written as things happen, and replaces a file that is there. The next `settle` or `run` throws
    ///     `CloudError.recordFailed` if it cannot be written.
    public convenience init(seed: UInt64, isStrict: Bool = false, record: String? = nil) {
        let start = RecordStart(seed: seed, strict: isStrict, source: RecordStart.simulatedCloud)
        self.init(start, record.map { CloudRecorder(start, path: $0) })
    }

    init(_ start: RecordStart, _ recorder: CloudRecorder?) {
        self.recorder = recorder
        var random = SplitMix64(seed: start.seed)
        hub = Mutex(CloudHub(seed: random.next()))
        state = Mutex(State(random: random, isStrict: start.strict))
    }

    /// The device of that name. The first call creates it: its app opens its store, and the first messages wait for
    /// `advance` or `settle`.
    ///
    /// - Parameters:
    ///   - name: identifies the device in decisions and traces.
    ///   - options: ignored if the device exists.
    /// - Throws: the error of opening its store.
    public func device(
        _ name: String, _ options: CloudDevice.Options = CloudDevice.Options()
    ) throws(StoreError) -> CloudDevice {
        let machine = state.withLock { state in
            if let machine = state.machines[name] { return machine }
            let machine = Machine(name: name, options: options, clock: virtualClock, defaults: defaults)
            state.machines[name] = machine
            return machine
        }
        let device = CloudDevice(cloud: self, machine: machine)
        _ = try device.process(CloudDevice.appProcess)
        return device
    }

    /// The true time. It begins on 18 September 2026 at noon UTC and passes only with `advance` and `settle`.
    public var now: Date { VirtualClock.date(virtualClock.wall) }

    /// The latest 10,000 events, one line each with its virtual second. Equal for equal seeds and calls; the wording
    /// may change between versions of this package.
    public var trace: [String] { state.withLock { $0.trace }.rendered }

    /// The latest 10,000 choices between two values, and rejections, oldest first.
    ///
    /// ```swift
    /// for decision in cloud.decisions where decision.key == "theme" { print(decision) }
    /// ```
    public var decisions: [CloudDecision] { state.withLock { $0.decisions } }
}

// MARK: - For the engine

extension SimulatedCloud {
    /// Adds to the agenda; may be called under a replica's lock.
    func schedule(_ action: Action, after milliseconds: Int64 = 0) {
        schedule(action, at: virtualClock.milliseconds + milliseconds)
    }

    func schedule(_ action: Action, at time: Int64) {
        let time = max(time, virtualClock.milliseconds)
        state.withLock { state in
            state.agenda.add(action, at: time)
            state.activity += 1
        }
    }

    func countWrite(of key: StoreKey, by program: Program) {
        state.withLock { state in
            state.writes.add(key, of: program.label)
            state.activity += 1
        }
        markUndelivered(program)
    }

    /// The program's observers are called before the next action; may be called under a replica's lock.
    func markUndelivered(_ program: Program) {
        state.withLock { state in
            guard !state.undelivered.contains(where: { $0 === program }) else { return }
            state.undelivered.append(program)
        }
    }

    func newSeed() -> UInt64 { state.withLock { $0.random.next() } }

    func random(_ range: ClosedRange<Int64>) -> Int64 {
        state.withLock { Int64.random(in: range, using: &$0.random) }
    }

    func registerReplica(_ id: ReplicaID, of program: Program) {
        state.withLock { $0.writers[id] = program.machine.name }
    }

    func log(_ line: String) {
        state.withLock { $0.trace.append(line, at: virtualClock.milliseconds) }
    }

    func log(_ decisions: [CloudDecision]) {
        guard !decisions.isEmpty else { return }
        state.withLock { state in
            for decision in decisions {
                state.trace.append(decision, at: virtualClock.milliseconds)
            }
            state.decisions += decisions
            if state.decisions.count > Trace.keptLineCount { state.decisions.removeFirst(1_000) }
        }
    }
}
