package import KVStoreCore
import KVStoreLog
import Synchronization

/// The owner of a durable replica in this process: a lock, a clock and a timer around it.
///
/// May be called from any thread; calls block for as long as an append takes.
package final class LocalReplica: Sendable {
    private struct State {
        let durable: DurableReplica
        var isFlushScheduled = false
        var isCatchUpScheduled = false
        var isRecoveryScheduled = false
        var isClosed = false
        var connection = StoreStatus.Connection.local
    }

    private let state: Mutex<State>
    /// Held while the log is synced, which is not under the lock of the state.
    private let flushing = Mutex(())
    private let runtime: StoreRuntime
    /// Executes what a change requires. Called in order and under the lock: must only enqueue.
    private let execute: @Sendable (Ready) -> Void
    /// Called under the lock when the connection changes: must only enqueue.
    private let connectionChanged: @Sendable (StoreStatus.Connection) -> Void
    /// What opening repaired or quarantined, as sentences.
    let recoveryNotes: [String]

    static let flushMilliseconds: Int64 = 100

    init(
        storage: any LogStorage, options: DurableReplica.Options, runtime: StoreRuntime,
        execute: @escaping @Sendable (Ready) -> Void,
        connectionChanged: @escaping @Sendable (StoreStatus.Connection) -> Void = { _ in }
    ) throws(StoreError) {
        do throws(LogError) {
            let durable = try DurableReplica(storage: storage, options: options, seed: runtime.newSeed())
            recoveryNotes = durable.recovery.notes
            state = Mutex(State(durable: durable))
        } catch {
            throw StoreError(error, operation: "open")
        }
        self.runtime = runtime
        self.execute = execute
        self.connectionChanged = connectionChanged
    }

    // MARK: - Changes

    /// Writes all of them, or none when it throws.
    func write(_ contents: [StoreKey: StoreRecord.Content]) throws(StoreError) {
        var isWritten = false
        defer { for (key, content) in contents { runtime.didWrite(key, isWritten ? content : nil) } }
        try change { replica, now in replica.write(contents, at: now) }
        isWritten = true
    }

    /// Writes values for keys that have none: all of them, or none when it throws.
    func fill(_ contents: [StoreKey: StoreRecord.Content]) throws(StoreError) {
        guard !contents.isEmpty else { return }
        try change { replica, now in replica.fill(contents, at: now) }
    }

    private func change(_ body: (inout Replica, Instant) -> (ready: Ready, violation: StoreError?)) throws(StoreError) {
        let violation = try transact("set") { replica, now in
            let outcome = body(&replica, now)
            return (outcome.ready, outcome.violation)
        }
        if let violation { throw violation }
    }

    /// Requests a round trip, as `Replica.synchronize` does. `willWait` gets the id of its completion under the lock,
    /// before the completion can be executed.
    package func synchronize(onlySends: Bool = false, willWait: (UInt64) -> Void) throws(StoreError) {
        try transact("synchronize") { replica, now in
            let (ready, waiter) = replica.synchronize(at: now, onlySends: onlySends)
            willWait(waiter)
            return (ready, ())
        }
    }

    func attach(isLive: Bool) throws(StoreError) {
        try handle(.attached(isLive: isLive))
    }

    /// Handles the outcome of what a `Ready` asked for. If its entries cannot be written, the replica handles a failure
    /// instead, or the event is delivered again later.
    ///
    /// - Returns: whether the event was applied. After one of a stream that was not, the rest of it is ignored.
    @discardableResult
    package func deliver(_ event: Event) -> Bool {
        do throws(StoreError) {
            try handle(event)
            return true
        } catch {
            guard error.code != .closed else { return false }
            let cause = SyncTransportError.unreachable(error.description)
            let recovery = state.withLock { state in
                defer { announceConnection(&state) }
                return state.durable.recovery(from: event, cause: cause)
            }
            switch recovery {
            case .handle(let failure): deliver(failure)
            case .redeliver:
                runtime.after(Backoff.greatestMilliseconds) { [weak self] in
                    self?.deliver(event)
                }
            case .drop: break
            }
            return false
        }
    }

    private func handle(_ event: Event) throws(StoreError) {
        try transact("synchronize") { replica, now in (replica.handle(event, at: now), ()) }
    }

    private func transact<Value: Sendable>(
        _ operation: String, _ body: (inout Replica, Instant) -> (ready: Ready, Value)
    ) throws(StoreError) -> Value {
        try state.withLock { (state: inout State) throws(StoreError) in
            guard !state.isClosed else {
                throw StoreError(.closed, operation: operation, subject: "the store", reason: "it is closed")
            }
            var value: Value?
            do throws(LogError) {
                execute(
                    try state.durable.transact(at: runtime.now()) { replica, now in
                        let outcome = body(&replica, now)
                        value = outcome.1
                        return outcome.ready
                    })
            } catch {
                catchUpLater(&state, after: error)
                throw StoreError(error, operation: operation)
            }
            announceConnection(&state)
            scheduleFlush(&state)
            return value!
        }
    }

    private func announceConnection(_ state: inout State) {
        let connection = state.durable.replica.connection
        guard connection != state.connection else { return }
        state.connection = connection
        connectionChanged(connection)
    }

    /// Applies what other processes have appended.
    func catchUp() throws(StoreError) {
        try state.withLock { (state: inout State) throws(StoreError) in
            guard !state.isClosed else { return }
            do throws(LogError) {
                execute(try state.durable.catchUp(at: runtime.now()))
            } catch {
                catchUpLater(&state, after: error)
                throw StoreError(error, operation: "read")
            }
        }
    }

    /// The log may hold more than was read: entries of other processes, or of a write that failed after it arrived.
    private func catchUpLater(_ state: inout State, after error: LogError) {
        guard case .storage = error, !state.isCatchUpScheduled else { return }
        state.isCatchUpScheduled = true
        runtime.after(Backoff.greatestMilliseconds) { [weak self] in
            self?.state.withLock { $0.isCatchUpScheduled = false }
            try? self?.catchUp()  // a failure schedules the next attempt
        }
    }

    // MARK: - Disk

    private func scheduleFlush(_ state: inout State) {
        // The next flush fails with the error.
        guard !state.isFlushScheduled, (try? state.durable.prepareSync()) != nil else { return }
        state.isFlushScheduled = true
        runtime.after(Self.flushMilliseconds) { [weak self] in
            try? self?.flush()  // a failure schedules recovery
        }
    }

    /// Blocks until everything written before the call is durable.
    ///
    /// Serialized, because the kernel may report a failure of concurrent syncs of a file to only one caller.
    package func flush() throws(StoreError) {
        do throws(LogError) {
            try flushing.withLock { _ throws(LogError) in
                let pending = try state.withLock { (state: inout State) throws(LogError) in
                    state.isFlushScheduled = false
                    return try state.durable.prepareSync()
                }
                guard let pending else { return }
                let failure = pending.perform()
                try state.withLock { (state: inout State) throws(LogError) in
                    try state.durable.finish(pending, failure: failure)
                }
            }
        } catch {
            recoverLater()
            throw StoreError(error, operation: "flush")
        }
    }

    /// After a failed sync the next change writes everything again; without one, this does.
    private func recoverLater() {
        state.withLock { state in
            guard state.durable.isClosedByFailure, !state.isClosed, !state.isRecoveryScheduled else { return }
            state.isRecoveryScheduled = true
            runtime.after(Backoff.greatestMilliseconds) { [weak self] in self?.recover() }
        }
    }

    private func recover() {
        let isDue = state.withLock { state in
            state.isRecoveryScheduled = false
            guard !state.isClosed else { return false }
            return (try? state.durable.recover()) == nil  // tried again later
        }
        if isDue { recoverLater() }
    }

    func close() { close { _ in } }

    /// Hands the contents over and closes, in one step. If `takeOver` throws, the replica stays open.
    func close<Result, Failure: Error>(
        _ takeOver: (_ contents: [StoreKey: StoreRecord.Content]) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // What other processes have appended is theirs to flush, so a process that only read does not wait for the
        // disk.
        if state.withLock({ $0.durable.hasWritten }) { try? flush() }
        return try state.withLock { (state: inout State) throws(Failure) in
            let result = try takeOver(state.durable.replica.visibleContents)
            if !state.isClosed {
                state.isClosed = true
                try? state.durable.close()  // flushed above, as far as the disk could
            }
            return result
        }
    }

    package func read<Result>(_ body: (borrowing Replica) -> sending Result) -> sending Result {
        state.withLock { body($0.durable.replica) }
    }
}

extension LogRecovery {
    fileprivate var notes: [String] {
        var notes = damage.map { damage in
            "\(damage.path) is damaged at byte \(damage.offset) (\(damage.detail)); " + "everything is downloaded again"
        }
        notes += quarantined.map { "the damaged file was kept as \($0)" }
        if let tornTail {
            notes.append(
                "\(tornTail.path): dropped an incomplete write at byte \(tornTail.offset) " + "(\(tornTail.detail))")
        }
        return notes
    }
}
