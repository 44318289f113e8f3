import Foundation
import Synchronization

/// The one owner of a durable replica in this process: a lock, a clock and a timer around it.
///
/// Calls come from any thread and block for as long as an append takes.
package final class LocalReplica: Sendable {
    private struct State {
        let durable: DurableReplica
        var isFlushScheduled = false
        var isLookScheduled = false
        var isClosed = false
        var connection = StoreStatus.Connection.local
    }

    private let state: Mutex<State>
    /// Held while the log is synced, which is not under the lock of the state.
    private let flushing = Mutex(())
    private let runtime: StoreRuntime
    /// Called in order, under the lock: must only enqueue.
    private let outlet: @Sendable (Effect) -> Void
    /// Called under the lock when the connection's state is another: must only enqueue.
    private let connectionChanged: @Sendable (StoreStatus.Connection) -> Void
    /// What opening repaired or set aside, in words.
    let recoveryNotes: [String]

    static let flushMilliseconds: Int64 = 100

    init(
        storage: any LogStorage, options: DurableReplica.Options, runtime: StoreRuntime,
        outlet: @escaping @Sendable (Effect) -> Void,
        connectionChanged: @escaping @Sendable (StoreStatus.Connection) -> Void = { _ in }
    ) throws(StoreError) {
        do throws(LogError) {
            let durable = try DurableReplica(
                storage: storage, options: options, seed: runtime.newSeed())
            recoveryNotes = durable.recovery.notes
            state = Mutex(State(durable: durable))
        } catch {
            throw StoreError(error, operation: "open")
        }
        self.runtime = runtime
        self.outlet = outlet
        self.connectionChanged = connectionChanged
    }

    func write(_ content: Record.Content, forKey key: String) throws(StoreError) {
        var violation: StoreError?
        try transact(operation: "set") { replica, now in
            let outcome = replica.write(content, forKey: key, at: now)
            violation = outcome.violation
            return outcome.effects
        }
        if let violation { throw violation }
    }

    /// Writes values for keys that have none: all of them, or where it throws none.
    func add(_ contents: [String: Record.Content]) throws(StoreError) {
        guard !contents.isEmpty else { return }
        var violation: StoreError?
        try transact(operation: "set") { replica, now in
            var filled = replica
            var effects: [Effect] = []
            let known = replica.visibleContents
            for (key, content) in contents.sorted(by: { $0.key < $1.key }) where known[key] == nil {
                let outcome = filled.write(content, forKey: key, at: now)
                violation = outcome.violation
                if violation != nil { return [] }
                effects += outcome.effects
            }
            replica = filled
            return effects
        }
        if let violation { throw violation }
    }

    package func handle(_ event: Event) throws(StoreError) { try handle(event) { true } }

    /// Handles an event if `isCurrent` says so under the lock; returns whether it did.
    @discardableResult
    private func handle(
        _ event: Event, if isCurrent: () -> Bool
    ) throws(StoreError) -> Bool {
        var isTaken = false
        try transact(operation: "synchronize") { replica, now in
            isTaken = isCurrent()
            return isTaken ? replica.handle(event, at: now) : []
        }
        return isTaken
    }

    /// What became of an event.
    package struct Telling {
        /// Whether the replica has taken it in. What follows on the same stream must not be told where it has not.
        package var isTaken: Bool
        /// An event that is to be told again after a while.
        package var again: Event?
    }

    /// Handles what came of an effect, as `Event.Unwritten` says where its entries cannot be written down. An event
    /// that is not current any more under the lock is dropped.
    @discardableResult
    package func tell(_ event: Event, if isCurrent: () -> Bool = { true }) -> Telling {
        do throws(StoreError) {
            return Telling(isTaken: try handle(event, if: isCurrent))
        } catch {
            guard error.code != .closed else { return Telling(isTaken: false) }
            switch event.unwritten(.unreachable(error.description)) {
            case .tell(let other):
                return Telling(isTaken: false, again: tell(other, if: isCurrent).again)
            case .again: return Telling(isTaken: false, again: event)
            case .drop: return Telling(isTaken: false)
            }
        }
    }

    private func transact(
        operation: String, _ body: (inout Replica, Moment) -> [Effect]
    ) throws(StoreError) {
        try state.withLock { (state: inout State) throws(StoreError) in
            guard !state.isClosed else {
                throw StoreError(
                    .closed, operation: operation, subject: "the store", reason: "it is closed")
            }
            do throws(LogError) {
                for effect in try state.durable.transact(at: runtime.now(), body) { outlet(effect) }
            } catch {
                lookLater(&state, after: error)
                throw StoreError(error, operation: operation)
            }
            let connection = state.durable.replica.status.connection
            if connection != state.connection {
                state.connection = connection
                connectionChanged(connection)
            }
            scheduleFlush(&state)
        }
    }

    /// Looks for what other processes have appended.
    func catchUp() throws(StoreError) {
        try state.withLock { (state: inout State) throws(StoreError) in
            guard !state.isClosed else { return }
            do throws(LogError) {
                for effect in try state.durable.catchUp(at: runtime.now()) { outlet(effect) }
            } catch {
                lookLater(&state, after: error)
                throw StoreError(error, operation: "read")
            }
        }
    }

    /// More may stand in the log than was read: others' entries, and a write that failed only after it had arrived.
    private func lookLater(_ state: inout State, after error: LogError) {
        guard case .storage = error, !state.isLookScheduled else { return }
        state.isLookScheduled = true
        runtime.after(Backoff.greatestMilliseconds) { [weak self] in
            self?.state.withLock { $0.isLookScheduled = false }
            try? self?.catchUp()
        }
    }

    private func scheduleFlush(_ state: inout State) {
        guard !state.isFlushScheduled, (try? state.durable.prepareSync()) != nil else { return }
        state.isFlushScheduled = true
        runtime.after(Self.flushMilliseconds) { [weak self] in
            try? self?.flush()
        }
    }

    /// Blocks until everything written before the call is on disk.
    ///
    /// One at a time: of two syncs of a file the system may tell a failure to one of them. Who waits finds it done.
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
            throw StoreError(error, operation: "write to disk")
        }
    }

    func close() { close { _ in } }

    /// Closes it with what it holds in other hands, in one step. Where `takeOver` throws, it stays open.
    func close<Result, Failure: Error>(
        _ takeOver: (_ contents: [String: Record.Content]) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try? flush()
        return try state.withLock { (state: inout State) throws(Failure) in
            let result = try takeOver(state.durable.replica.visibleContents)
            if !state.isClosed {
                state.isClosed = true
                try? state.durable.close()
            }
            return result
        }
    }

    package func read<Result>(_ body: (borrowing Replica) -> sending Result) -> sending Result {
        state.withLock { body($0.durable.replica) }
    }
}

extension LogRecovery {
    /// What a person should know, a sentence each.
    var notes: [String] {
        var notes = damage.map { damage in
            "\(damage.path) was damaged at byte \(damage.offset) (\(damage.detail)); "
                + "everything will be downloaded again"
        }
        notes += setAside.map { "the damaged file is kept as \($0)" }
        if let tornTail {
            notes.append(
                "\(tornTail.path): not used from byte \(tornTail.offset) on, \(tornTail.detail)")
        }
        return notes
    }
}
