import Dispatch
import KVStoreCore
package import KVStoreLedger
package import KVStoreLog
package import KVStoreWire
import LocalFiles
package import Logging
package import NIOCore
import NIOPosix
import Synchronization

/// The owner of the ledger, with group commit: all waiting requests share one disk sync.
///
/// A request is applied and appended at once, in the order of arrival; its answer leaves after a sync that began later.
/// The requests that an event loop reads in one tick are a group. While a sync runs on its own queue, further requests
/// append and gather for the next one. A segment is created on that queue too, while writes wait and reads go on. A
/// failed append changes nothing. After a failed sync memory holds what the disk may lack: the waiting requests fail,
/// readers see only what earlier syncs have covered, and no write is accepted until the log has recovered, which is
/// tried again and again.
///
/// May be called from any thread. What changes is behind one lock, and passed to what needs it: whoever has the state
/// has the lock. Of the calls to the disk only compaction's are made with it.
package final class LogEngine: Sendable {
    package struct Options: Sendable {
        package var ledger = Ledger.Options()
        /// Requests that may wait for the disk at a time.
        var waitingCount = 1_024
        package var storesPerAccount = 1_024
        /// Time until the first attempt to recover from a failed sync; later ones wait twice as long, up to 5 s.
        var recoveryDelay = TimeAmount.seconds(1)
        /// Milliseconds since 1970.
        package var now: @Sendable () -> Int64 = { ServerClock.wallMilliseconds() }
        /// The clock of an account, if accounts have clocks of their own.
        package var accountClock: (@Sendable (_ account: String) -> Int64)?

        package init() { ledger.defersSegments = true }

        package func now(of account: String) -> Int64 { accountClock?(account) ?? now() }
    }

    let recovery: LogRecovery
    package let options: Options
    package let metrics = Metrics()
    package let accounts = AccountRegistry()
    private let logger: Logger

    /// The event loops that serve connections, each with its live readers.
    package let loops: [WatcherRegistry]
    private let state: Mutex<State>
    private let disk = DispatchQueue(label: "ubiquity.kvsd.disk", qos: .userInteractive)
    private let background = DispatchQueue(label: "ubiquity.kvsd.background", qos: .utility)

    /// What the lock guards.
    package struct State {
        package let ledger: Ledger
        /// Requests that may wait for the disk at a time.
        fileprivate let waitingLimit: Int
        /// What waits for the next sync, for each event loop.
        fileprivate var groups: [[Waiter]]
        fileprivate var isWaitingForSync = false
        /// What waits for the log's next segment, for each event loop.
        fileprivate var parked: [[Waiter]]
        /// Requests of this group, of the one that is being synced, and those that wait for a segment.
        fileprivate(set) var waitingCount = 0
        /// Whether syncs begin at the end of an event loop's tick.
        fileprivate var isScheduled = false
        /// Whether `runSyncs` runs.
        fileprivate var isSyncing = false
        /// Whether compaction has moved or removed something since the last sync began.
        fileprivate var hasCompacted = false
        /// An old segment is damaged: it stays, and the log grows until the next start.
        fileprivate var isCompactionDisabled = false
        fileprivate var pace: CompactionPace
        fileprivate var isIdleStepScheduled = false
        /// Why the log accepts no writes for now.
        fileprivate(set) var failure: LogError?
        fileprivate var closer: EventLoopPromise<Void>?
        fileprivate var isClosed = false

        fileprivate init(_ ledger: Ledger, _ options: Options, loopCount: Int) {
            self.ledger = ledger
            waitingLimit = options.waitingCount
            groups = Array(repeating: [], count: loopCount)
            parked = groups
            pace = CompactionPace(
                stepByteCount: options.ledger.compactionByteCount, segmentByteCount: options.ledger.segmentByteCount)
        }
    }

    /// Completes a request. Unchecked because it is called on the event loop of the request.
    fileprivate struct Waiter: @unchecked Sendable {
        let call: (LogError?) -> Void
    }

    /// What a sync has brought.
    private struct Outcome {
        /// For each event loop.
        var completions: [[Waiter]]
        var error: LogError?
        /// Stores with changes that readers may see.
        var advanced: [StoreID]
    }

    /// Opens the log in `storage`, whose lock the caller holds. Blocks.
    package init(
        storage: any LogStorage, options: Options = Options(), seed: UInt64, logger: Logger,
        loops: [any EventLoop] = Array(MultiThreadedEventLoopGroup.singleton.makeIterator())
    ) throws(LogError) {
        self.loops = loops.enumerated().map { WatcherRegistry($1, index: $0) }
        let ledger = try Ledger(storage: storage, options: options.ledger, seed: seed)
        recovery = ledger.recovery
        self.options = options
        self.logger = logger
        state = Mutex(State(ledger, options, loopCount: loops.count))
        state.withLock { state in
            prepareSpace(state)
            compactWhenIdle(after: Self.idleDelay, &state)
        }
    }

    private func prepareSpace(_ state: State) {
        if let prepare = state.ledger.spaceToPrepare() { background.async(execute: prepare) }
    }

    // MARK: - Requests

    /// Runs `body`, which applies a request or reads, and completes on the event loop after a sync that covers
    /// everything that has been applied; at once if one has already, or if no sync will: after a failure, requests see
    /// only what is durable. Completes with `again` if `body` could not be applied because the log needed its next
    /// segment, as soon as that is there: the caller performs it once more. Called on that event loop.
    package func perform<Value: Sendable>(
        on watchers: WatcherRegistry, _ body: (inout sending State) throws(Problem) -> Value,
        _ complete: @escaping (Result<Value, Problem>) -> Void
    ) {
        let result = read { state -> Result<Value, Problem>? in
            do throws(Problem) {
                let value = try body(&state)
                guard state.failure == nil, !state.ledger.isDurable else { return .success(value) }
                state.groups[watchers.index].append(
                    Waiter { error in complete(error.map { .failure(Problem($0)) } ?? .success(value)) })
                state.isWaitingForSync = true
            } catch Problem.again {
                state.parked[watchers.index].append(
                    Waiter { error in complete(.failure(error.map(Problem.init) ?? .again)) })
            } catch {
                return .failure(error)
            }
            state.waitingCount += 1
            scheduleSync(after: watchers.loop, &state)
            return nil
        }
        if let result { complete(result) }
    }

    /// Runs `body`, which must not wait for anything, with the lock.
    package func read<Value: Sendable, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try state.withLock { state throws(Failure) in try body(&state) }
    }

    /// Whether ``close()`` has been called.
    var isClosing: Bool { read { $0.closer != nil } }

    /// Applies a request; the answer must wait for a sync.
    func apply(_ request: SyncRequest, to id: StoreID, in state: inout State) throws(Problem) -> SyncResponse {
        try change(id, by: request.changes, in: &state) { ledger, now, limits throws(LogError) in
            let response = try ledger.apply(request, to: id, now: now, limits: limits)
            return (response, response.rejections.count)
        }
    }

    /// Applies a change; what it has become must wait for a sync.
    func apply(_ record: StoreRecord, to id: StoreID, in state: inout State) throws(Problem) -> SequencedRecord {
        let plan = try change(id, by: [record], in: &state) { ledger, now, limits throws(LogError) in
            let plan = try ledger.accept([record], to: id, now: now, limits: limits)
            return (plan, plan.rejections.count)
        }
        if let rejection = plan.rejections.first { throw Problem(rejection.reason) }
        // Its stamp is the greatest, so it is never superseded.
        return plan.accepted.first ?? SequencedRecord(record: record, sequence: 0)
    }

    private func change<Result>(
        _ id: StoreID, by changes: [StoreRecord], in state: inout State,
        _ apply: (Ledger, _ now: Int64, Ledger.AccountLimits) throws(LogError) -> (Result, rejectionCount: Int)
    ) throws(Problem) -> Result {
        if let failure = state.failure { throw Problem(failure) }
        let account = try accounts.account(id.account)
        let limits = Ledger.AccountLimits(
            byteCount: account.byteLimit, storeCount: account.storeLimit ?? options.storesPerAccount)
        let ledger = state.ledger
        let (formerCount, formerStoreCount) = (ledger.acceptedCount, ledger.storeCount)
        let (result, rejectionCount): (Result, Int)
        do throws(LogError) {
            (result, rejectionCount) = try apply(ledger, options.now(of: id.account), limits)
        } catch {
            if case .storage(let failure) = error, failure.isOutOfSpace { refuseForSpace(error) }
            failIfClosed(&state)
            throw Problem(error)
        }
        let stored = ledger.acceptedCount - formerCount
        guard stored > 0 || ledger.storeCount > formerStoreCount || rejectionCount > 0 else { return result }
        if stored > 0 {
            state.payForCompaction(
                recordCount: stored, byteCount: changes.reduce(0) { $0 + $1.key.text.utf8.count + $1.content.byteCount }
            )
        }
        let isRecovered = metrics.count {
            $0.commits += 1
            $0.recordsStored += stored
            $0.recordsRejected += rejectionCount
            return $0.hasOpenIncident
        }
        if isRecovered { endIncident() }
        return result
    }

    /// An append that ends a segment syncs it. If that fails the log is closed, which readiness
    /// must show at once, not after the next write.
    func failIfClosed(_ state: inout State) {
        do throws(LogError) { try state.ledger.checkOpen() } catch { fail(error, &state) }
    }

    /// Completes the waiting requests, closes the log and ends all live streams; later requests fail.
    /// Call it once, from any task.
    package func close() async {
        let closed = loops[0].loop.makePromise(of: Void.self)
        state.withLock { state in
            state.closer = closed
            startSyncs(&state)
        }
        // The promise is never failed.
        try? await closed.futureResult.get()
    }
}

extension LogEngine.State {
    /// Throws unless a change can be applied now.
    func admitChange() throws(Problem) {
        if let failure { throw Problem(failure) }
        try admit()
    }

    /// Throws unless a request can be applied now. One that only reads need not wait if everything is durable.
    func admit(isRead: Bool = false) throws(Problem) {
        if closer != nil { throw .stopping }
        guard waitingCount < waitingLimit || isRead && ledger.isDurable else { throw .busy }
    }

    /// What was written pays for the work of compaction.
    mutating func payForCompaction(recordCount: Int, byteCount: Int) {
        pace.credit(recordCount: recordCount, byteCount: byteCount)
    }
}

/// Syncs and new segments, on the disk's queue. The lock is held for everything but calls to the disk.
extension LogEngine {
    /// At the end of the tick: what the event loop reads in one tick is a group.
    private func scheduleSync(after loop: any EventLoop, _ state: inout State) {
        guard !state.isScheduled, !state.isSyncing else { return }
        state.isScheduled = true
        loop.execute { [self] in
            self.state.withLock { state in
                state.isScheduled = false
                startSyncs(&state)
            }
        }
    }

    private func startSyncs(_ state: inout State) {
        guard !state.isSyncing else { return }
        state.isSyncing = true
        disk.async { [self] in runSyncs() }
    }

    private enum Step: Sendable {
        case sync(Ledger.PendingSync, [[Waiter]])
        case create(SegmentedLog.PendingSegment)
        case deliver(Outcome)
        case end
    }

    /// On the disk's queue: a sync for all that waits, and another one as long as more has come meanwhile; then the
    /// next segment, if writes wait for it.
    private func runSyncs() {
        var mayCompact = false
        while true {
            let step = state.withLock { state in
                if mayCompact {
                    prepareSpace(state)
                    compact(&state)
                }
                return nextStep(&state)
            }
            switch step {
            case .sync(let pending, let completions):
                let start = NIODeadline.now()
                let failure = pending.sync.perform()
                let elapsed = NIODeadline.now() - start
                deliver(state.withLock { finish(pending, failure, elapsed, completions, &$0) })
                mayCompact = true
            case .create(let pending):
                let result = pending.perform()
                deliver(state.withLock { finish(pending, result, &$0) })
                mayCompact = (try? result.get()) != nil  // `finish` has handled the error
            case .deliver(let outcome):
                deliver(outcome)
                mayCompact = true
            case .end: return
            }
        }
    }

    private func nextStep(_ state: inout State) -> Step {
        guard state.isWaitingForSync || state.hasCompacted || state.ledger.isSegmentDue else {
            state.isSyncing = false
            finishClosing(&state)
            return .end
        }
        // `prepareSync` below meets the same error.
        if !state.isWaitingForSync, !state.hasCompacted, state.ledger.isDurable,
            let pending = try? state.ledger.prepareSegment()
        {
            return .create(pending)
        }
        state.hasCompacted = false
        let completions = state.groups
        state.groups = Array(repeating: [], count: loops.count)
        state.isWaitingForSync = false
        do throws(LogError) {
            if let pending = try state.ledger.prepareSync() { return .sync(pending, completions) }
            // Nothing was appended since the last sync.
            return .deliver(outcome(of: completions, &state))
        } catch {
            return .deliver(outcome(of: completions, &state, error))
        }
    }

    private func outcome(of completions: [[Waiter]], _ state: inout State, _ error: LogError? = nil) -> Outcome {
        state.waitingCount -= completions.reduce(0) { $0 + $1.count }
        if let error { fail(error, &state) }
        let advanced = error == nil ? state.ledger.takeAdvanced() : []
        return Outcome(completions: completions, error: error, advanced: advanced)
    }

    private func finish(
        _ pending: Ledger.PendingSync, _ failure: FileError?, _ elapsed: TimeAmount, _ completions: [[Waiter]],
        _ state: inout State
    ) -> Outcome {
        let requestCount = completions.reduce(0) { $0 + $1.count }
        metrics.count {
            $0.syncSeconds.observe(Double(elapsed.nanoseconds) / 1e9)
            if requestCount > 0 { $0.groupRequests.observe(Double(requestCount)) }
        }
        do throws(LogError) {
            try state.ledger.finish(pending, failure: failure)
            return outcome(of: completions, &state)
        } catch {
            return outcome(of: completions, &state, error)
        }
    }

    /// Answers what waited and wakes the readers, with one task for each event loop that has any. Without the lock.
    private func deliver(_ outcome: Outcome) {
        for (index, watchers) in loops.enumerated() {
            let hasReaders = watchers.count > 0 && !outcome.advanced.isEmpty
            guard hasReaders || !outcome.completions[index].isEmpty else { continue }
            watchers.loop.execute {
                for completion in outcome.completions[index] { completion.call(outcome.error) }
                watchers.wake(outcome.advanced)
            }
        }
    }

    /// Answers those that wait for a segment, also since it was planned.
    private func finish(
        _ pending: SegmentedLog.PendingSegment, _ result: Result<any LogFile, FileError>, _ state: inout State
    ) -> Outcome {
        let completions = state.parked
        state.parked = Array(repeating: [], count: loops.count)
        do throws(LogError) {
            try state.ledger.finish(pending, result)
            return outcome(of: completions, &state)
        } catch {
            let requestCount = completions.reduce(0) { $0 + $1.count }
            state.waitingCount -= requestCount
            if case .storage(let failure) = error, failure.isOutOfSpace {
                for _ in 0..<requestCount { refuseForSpace(error) }
            }
            if requestCount == 0 { logger.error("cannot compact the log: \(error)") }
            compactWhenIdle(after: Self.retryDelay, &state)
            return Outcome(completions: completions, error: error, advanced: [])
        }
    }

    private func finishClosing(_ state: inout State) {
        guard let closer = state.closer, !state.isClosed else { return }
        state.isClosed = true
        do throws(LogError) { try state.ledger.close() } catch {
            logger.error("cannot close the log: \(error)")
        }
        closer.succeed()
    }
}

/// Compaction between groups and in idle time.
extension LogEngine {
    /// Makes a bounded number of steps between two groups. The next sync covers what they move; it
    /// begins at once if no request waits.
    private func compact(_ state: inout State) {
        let count = state.pace.takeSteps(isDue: state.ledger.isCompactionDue)
        let isDone = step(count, &state)
        compactWhenIdle(after: isDone ? Self.idleDelay : Self.retryDelay, &state)
    }

    private static let idleDelay = TimeAmount.milliseconds(20)
    private static let retryDelay = TimeAmount.seconds(60)

    /// While no request waits, a step holds nobody up, so compaction goes on without writes that pay for it. So does
    /// that of a log which a former run has left.
    private func compactWhenIdle(after delay: TimeAmount, _ state: inout State) {
        guard !state.isIdleStepScheduled, state.mayCompact, state.ledger.isCompactionDue else { return }
        state.isIdleStepScheduled = true
        loops[0].loop.scheduleTask(in: delay) { [self] in
            self.state.withLock { state in
                state.isIdleStepScheduled = false
                guard !state.isWaitingForSync, !state.isSyncing else { return compactWhenIdle(after: delay, &state) }
                if step(1, &state) { startSyncs(&state) } else { compactWhenIdle(after: Self.retryDelay, &state) }
            }
        }
    }

    /// Returns false when a step failed.
    private func step(_ count: Int, _ state: inout State) -> Bool {
        guard state.mayCompact else { return true }
        do throws(LogError) {
            for _ in 0..<count where state.ledger.isCompactionDue {
                try state.ledger.compactStep()
                state.hasCompacted = true
                metrics.count { $0.compactionSteps += 1 }
            }
            return true
        } catch .needsSegment {
            return true
        } catch {
            // Nothing is lost: the frames to be moved are still in their old segment.
            logger.error("cannot compact the log: \(error)")
            switch error {
            case .damaged, .removed: state.isCompactionDisabled = true
            default: break
            }
            failIfClosed(&state)
            return false
        }
    }
}

extension LogEngine.State {
    fileprivate var mayCompact: Bool { failure == nil && closer == nil && !isCompactionDisabled }
}

/// A failed sync, and how the engine goes on after it.
extension LogEngine {
    private func fail(_ error: LogError, _ state: inout State) {
        guard state.failure == nil else { return }
        state.failure = error
        beginFailure(error)
        // No segment is coming for those that wait for one.
        for (index, completions) in state.parked.enumerated() where !completions.isEmpty {
            state.groups[index] += completions
            state.parked[index] = []
            state.isWaitingForSync = true
        }
        recover(after: options.recoveryDelay)
    }

    private func recover(after delay: TimeAmount) {
        loops[0].loop.scheduleTask(in: delay) { [self] in
            disk.async { [self] in recover(delay) }
        }
    }

    /// On the disk's queue.
    private func recover(_ delay: TimeAmount) {
        do throws(LogError) {
            let pending = try read { state throws(LogError) in
                state.closer == nil ? try state.ledger.prepareRecovery() : nil
            }
            guard let pending else { return }
            let result = pending.segment.perform()
            deliver(try read { state throws(LogError) in try finish(pending, result, &state) })
        } catch {
            logger.debug("the log cannot recover yet: \(error)")
            recover(after: min(delay * 2, .seconds(5)))
        }
    }

    private func finish(
        _ pending: Ledger.PendingRecovery, _ result: Result<any LogFile, FileError>, _ state: inout State
    ) throws(LogError) -> Outcome {
        try state.ledger.finish(pending, result)
        state.failure = nil
        endIncident()
        prepareSpace(state)
        compactWhenIdle(after: Self.idleDelay, &state)
        return outcome(of: state.groups.map { _ in [] }, &state)
    }
}

/// What an operator must know: logged once when it begins and once when it ends, and shown by `kvsd status`.
extension LogEngine {
    private func beginFailure(_ error: LogError) {
        let cause =
            if case .closedByFailure(let failure) = error { failure.description } else {
                error.description
            }
        beginIncident("\(cause); no writes until the disk works again, which needs no restart")
    }

    private func refuseForSpace(_ error: LogError) {
        metrics.count { $0.requestsRefusedForSpace += 1 }
        beginIncident("the disk is full: \(error); free space, which needs no restart")
    }

    /// Calls of one incident after the first change nothing.
    private func beginIncident(_ text: String) {
        if metrics.beginIncident(text, now: options.now()) { logger.critical("\(text)") }
    }

    private func endIncident() {
        if metrics.endIncident(now: options.now()) { logger.notice("writes are accepted again") }
    }
}
