import KVStore
import Synchronization

/// Puts a simulated store's network effects on the cloud's agenda and tells it what came of them.
final class CloudDriver: SyncDriving {
    private struct State {
        weak var cloud: SimulatedCloud?
        var replica: LocalReplica?
        var isStopped = false
        var requestID: UInt64?
        var streamID: UInt64?
        var wakeID: UInt64 = 0
        var lastWaiter: UInt64 = 0
        var outcomes: [UInt64: SyncOutcome] = [:]
    }

    /// Unowned, as the program has the store that has this; only the cloud asks for it, which has the program.
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

    func enqueue(_ effect: Effect) { cloud?.schedule(.effect(self, effect)) }

    func start(_ replica: LocalReplica) {
        state.withLock { $0.replica = replica }
        let id = replica.read { $0.id }
        cloud?.noteReplica(id, of: program)
    }

    func stop() {
        state.withLock { state in
            state.isStopped = true
            state.replica = nil
            state.requestID = nil
            state.streamID = nil
        }
    }

    func requestRound(_ replica: LocalReplica) {
        try? replica.handle(.synchronize(waiter: newWaiter()))
    }

    func synchronize(_ replica: LocalReplica) async throws(StoreError) -> SyncReport {
        let waiter = newWaiter()
        try replica.handle(.synchronize(waiter: waiter))
        let outcome =
            if let cloud { await cloud.runUntilAnswered(self, waiter: waiter) } else {
                SyncOutcome.failed(.unreachable("its simulated cloud is gone"))
            }
        switch outcome {
        case .synchronized(let report): return report
        case .failed(let error):
            throw StoreError(error, operation: "synchronize", store: storeID.name)
        }
    }

    private func newWaiter() -> UInt64 {
        state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
    }

    // MARK: - What is under way

    private var cloud: SimulatedCloud? { state.withLock { $0.cloud } }

    var replica: LocalReplica? { state.withLock { $0.replica } }

    var isStopped: Bool { state.withLock { $0.isStopped } || life.isOver }

    func takeOutcome(of waiter: UInt64) -> SyncOutcome? {
        state.withLock { $0.outcomes.removeValue(forKey: waiter) }
    }

    func isWaiting(forRequest id: UInt64) -> Bool {
        state.withLock { $0.requestID == id } && !isStopped
    }

    func isReading(stream id: UInt64) -> Bool {
        state.withLock { $0.streamID == id } && !isStopped
    }

    func isDue(wake id: UInt64) -> Bool { state.withLock { $0.wakeID == id } && !isStopped }

    // MARK: - Effects and events

    /// Carries out what the replica has asked for. Not under any lock.
    func carryOut(_ effect: Effect, in cloud: SimulatedCloud) {
        guard !isStopped else { return }
        switch effect {
        case .append, .notify: break
        case .send(let request): send(request, in: cloud)
        case .openStream(let since, let epoch):
            let id = cloud.newID()
            state.withLock { $0.streamID = id }
            cloud.carry(.openStream(self, id: id, since: since, epoch: epoch), of: program.machine)
        case .closeStream: state.withLock { $0.streamID = nil }
        case .wake(let moment):
            let id = cloud.newID()
            state.withLock { $0.wakeID = id }
            cloud.schedule(.wake(self, id: id), at: moment)
        case .finish(let waiter, let outcome): state.withLock { $0.outcomes[waiter] = outcome }
        }
    }

    private func send(_ request: SyncRequest, in cloud: SimulatedCloud) {
        // A refused clock has given the replica another id.
        if let id = ReplicaID(request.replica) { cloud.noteReplica(id, of: program) }
        do throws(StoreError) {
            try replica?.flush()
        } catch {
            return tell(.failed(.unreachable(error.description)), in: cloud)
        }
        let id = cloud.newID()
        state.withLock { $0.requestID = id }
        cloud.send(request, id: id, from: self)
    }

    /// The request is over, with an answer or without one.
    func finishRequest(
        _ id: UInt64, _ result: Result<SyncResponse, SyncTransportError>, in cloud: SimulatedCloud
    ) {
        guard isWaiting(forRequest: id) else { return }
        state.withLock { $0.requestID = nil }
        switch result {
        case .success(let response): tell(.answered(response), in: cloud)
        case .failure(let error): tell(.failed(error), in: cloud)
        }
    }

    func endStream(_ id: UInt64, _ error: SyncTransportError?, in cloud: SimulatedCloud) {
        guard isReading(stream: id) else { return }
        state.withLock { $0.streamID = nil }
        tell(.streamEnded(error), in: cloud)
    }

    func tell(_ event: Event, in cloud: SimulatedCloud) {
        guard let replica, !life.isOver else { return }
        program.isDelivering = true
        let telling = cloud.recordingDecisions(of: event, at: self, replica) {
            replica.tell(event)
        }
        if case .stream = event, !telling.isTaken { state.withLock { $0.streamID = nil } }
        if let again = telling.again {
            cloud.schedule(.retell(self, again), after: Backoff.greatestMilliseconds)
        }
    }
}
