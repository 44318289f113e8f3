import KVStore
import KVStoreCore
import KVStoreSimulation
import Synchronization

/// Executes what a simulated store requires on the cloud's agenda, and delivers the outcomes.
final class CloudDriver: SyncDriving, ReadyExecutor {
    private struct State {
        weak var cloud: SimulatedCloud?
        var replica: LocalReplica?
        var isStopped = false
        /// How long its latest back-off is.
        var backoffMilliseconds: Int64 = 0
        /// Those that are waited for.
        var completions: [UInt64: Ready.Completion?] = [:]
    }

    /// Unowned, as the program owns the store that owns this; only the cloud asks for it, which owns the program.
    unowned let program: Program
    let life: Life
    let storeID: StoreID
    private let state: Mutex<State>

    init(cloud: SimulatedCloud, program: Program, life: Life, storeID: StoreID) {
        self.program = program
        self.life = life
        self.storeID = storeID
        state = Mutex(State(cloud: cloud))
    }

    // MARK: - Calls of the store

    func enqueue(_ ready: Ready) {
        var ready = ready
        if !ready.notifications.isEmpty { cloud?.markUndelivered(program) }
        ready.notifications = []
        if ready != Ready() { cloud?.schedule(.execute(ready, self)) }
    }

    func start(_ replica: LocalReplica) {
        state.withLock { $0.replica = replica }
        let id = replica.read { $0.id }
        cloud?.registerReplica(id, of: program)
        cloud?.state.withLock { $0.drivers[program.label] = self }
    }

    func stop() {
        state.withLock { state in
            state.isStopped = true
            state.replica = nil
        }
    }

    func requestRound(_ replica: LocalReplica) { try? replica.synchronize { _ in } }

    func synchronize(_ replica: LocalReplica, onlySends: Bool) async throws(StoreError) -> SyncReport {
        var waiter: UInt64 = 0
        try replica.synchronize(onlySends: onlySends) { id in
            waiter = id
            state.withLock { $0.completions[id] = .some(nil) }
        }
        defer { state.withLock { state in _ = state.completions.removeValue(forKey: waiter) } }
        do throws(SyncTransportError) {
            guard let cloud else { throw .unreachable("its simulated cloud is gone") }
            return try await cloud.runUntilCompleted(self, waiter: waiter)
        } catch {
            throw StoreError(error, operation: "synchronize", store: storeID.name)
        }
    }

    // MARK: - State

    private var cloud: SimulatedCloud? { state.withLock { $0.cloud } }

    var isStopped: Bool { state.withLock { $0.isStopped } || life.isOver }

    var backoffMilliseconds: Int64 { state.withLock { $0.backoffMilliseconds } }

    /// What its replica holds under the key.
    func entry(forKey key: StoreKey) -> Table.Entry? {
        state.withLock { $0.replica }?.read { $0.table[key] }
    }

    func completion(of waiter: UInt64) -> Ready.Completion? {
        state.withLock { $0.completions[waiter] ?? nil }
    }

    /// Whether the event concerns something that is under way.
    func awaits(_ event: Event) -> Bool {
        guard let replica = state.withLock({ $0.replica }), !life.isOver else { return false }
        return replica.read { $0.awaits(event) }
    }

    // MARK: - Execution and delivery

    /// Must not be called under a lock.
    func execute(_ ready: Ready) {
        guard !isStopped else { return }
        var executor = self
        ready.execute(on: &executor)
    }

    func notify(_ change: StoreChange) {}

    func closeStream() {}

    func openStream(id: UInt64, since: SyncCursor) {
        cloud?.carry(.openStream(self, id: id, since: since), nil, of: program.machine)
    }

    func send(_ outgoing: Ready.Outgoing, mustSync: Bool) {
        guard let cloud else { return }
        // A rejected clock has given the replica another id.
        cloud.registerReplica(outgoing.request.replica, of: program)
        if mustSync {
            do throws(StoreError) {
                try state.withLock({ $0.replica })?.flush()
            } catch {
                let failure = SyncTransportError.unreachable(error.description)
                return deliver(.answered(id: outgoing.id, .failure(failure)), in: cloud)
            }
        }
        cloud.send(outgoing, from: self)
    }

    func wake(at milliseconds: Int64) {
        guard let cloud else { return }
        let wait = max(0, milliseconds - cloud.virtualClock.milliseconds)
        state.withLock { $0.backoffMilliseconds = wait }
        cloud.schedule(.deliver(.woke, self), at: milliseconds)
    }

    func complete(_ completion: Ready.Completion) {
        state.withLock { state in
            guard state.completions[completion.waiter] != nil else { return }
            state.completions[completion.waiter] = completion
        }
        cloud?.state.withLock { $0.hasCompletions = true }
    }

    func deliver(_ event: Event, in cloud: SimulatedCloud) {
        guard let replica = state.withLock({ $0.replica }), awaits(event) else { return }
        program.isDelivering = true
        cloud.deliver(event, to: replica, of: self)
    }
}
