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
/// `perform`, `read` and `close` may be called from any thread. They take the lock that guards everything else, which
/// is therefore unchecked. Of the calls to the disk only compaction's are made with the lock.
package final class LogEngine: @unchecked Sendable {
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
    private let lock = Mutex(())
    private let disk = DispatchQueue(label: "ubiquity.kvsd.disk", qos: .userInteractive)
    private let background = DispatchQueue(label: "ubiquity.kvsd.background", qos: .utility)

    package let ledger: Ledger
    /// What waits for the next sync, for each event loop.
    private var groups: [[Completion]]
    private var isWaitingForSync = false
    /// What waits for the log's next segment, for each event loop.
    private var parked: [[Completion]]
    /// Requests of this group, of the one that is being synced, and those that wait for a segment.
    private var waitingCount = 0 {
        didSet { metrics.count { $0.waiting = waitingCount } }
    }
    /// Whether syncs begin at the end of an event loop's tick.
    private var isScheduled = false
    /// Whether `runSyncs` runs.
    private var isSyncing = false
    /// Whether compaction has moved or removed something since the last sync began.
    private var hasCompacted = false
    /// An old segment is damaged: it stays, and the log grows until the next start.
    private var isCompactionDisabled = false
    private var pace: CompactionPace
    private var isIdleStepScheduled = false
    /// Why the log accepts no writes for now.
    private(set) var failure: LogError?
    private var closer: EventLoopPromise<Void>?
    private var isClosed = false

    private typealias Completion = (LogError?) -> Void

    /// What a sync has brought. Unchecked because each completion is called on its own event loop.
    private struct Outcome: @unchecked Sendable {
        /// For each event loop.
        var completions: [[Completion]]
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
        groups = Array(repeating: [], count: loops.count)
        parked = groups
        ledger = try Ledger(storage: storage, options: options.ledger, seed: seed)
        recovery = ledger.recovery
        self.options = options
        self.logger = logger
        pace = CompactionPace(
            stepByteCount: options.ledger.compactionByteCount, segmentByteCount: options.ledger.segmentByteCount)
        countStores()
        prepareSpace()
        compactWhenIdle(after: Self.idleDelay)
    }

    private func prepareSpace() {
        if let prepare = ledger.spaceToPrepare() { background.async(execute: prepare) }
    }

    // MARK: - Requests

    /// Runs `body`, which applies a request or reads, and completes on the event loop after a sync that covers
    /// everything that has been applied; at once if one has already, or if no sync will: after a failure, requests see
    /// only what is durable. Completes with `again` if `body` could not be applied because the log needed its next
    /// segment, as soon as that is there: the caller performs it once more. Called on that event loop.
    package func perform<Value: Sendable>(
        on watchers: WatcherRegistry, _ body: () throws(Problem) -> Value,
        _ complete: @escaping (Result<Value, Problem>) -> Void
    ) {
        let result = read { () -> Result<Value, Problem>? in
            do throws(Problem) {
                let value = try body()
                guard failure == nil, !ledger.isDurable else { return .success(value) }
                groups[watchers.index].append { error in
                    complete(error.map { .failure(Problem($0)) } ?? .success(value))
                }
                isWaitingForSync = true
            } catch Problem.again {
                parked[watchers.index].append { error in
                    complete(.failure(error.map(Problem.init) ?? .again))
                }
            } catch {
                return .failure(error)
            }
            waitingCount += 1
            scheduleSync(after: watchers.loop)
            return nil
        }
        if let result { complete(result) }
    }

    /// Runs `body`, which must not wait for anything, as the owner of the ledger.
    package func read<Value: Sendable, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        try lock.withLock { _ throws(Failure) in try body() }
    }

    /// Whether ``close()`` has been called.
    var isClosing: Bool { read { closer != nil } }

    /// Throws unless a change can be applied now.
    func admitChange() throws(Problem) {
        if let failure { throw Problem(failure) }
        try admit()
    }

    /// Throws unless a request can be applied now. One that only reads need not wait if everything is durable.
    func admit(isRead: Bool = false) throws(Problem) {
        if closer != nil { throw .stopping }
        guard waitingCount < options.waitingCount || isRead && ledger.isDurable else { throw .busy }
    }

    /// Applies a request; the answer must wait for a sync.
    func apply(_ request: SyncRequest, to id: StoreID) throws(Problem) -> SyncResponse {
        try change(id, by: request.changes) { now, byteLimit throws(LogError) in
            let response = try ledger.apply(request, to: id, now: now, accountByteLimit: byteLimit)
            return (response, response.rejections.count)
        }
    }

    /// Applies a change; what it has become must wait for a sync.
    func apply(_ record: Record, to id: StoreID) throws(Problem) -> SequencedRecord {
        let plan = try change(id, by: [record]) { now, byteLimit throws(LogError) in
            let plan = try ledger.accept([record], to: id, now: now, accountByteLimit: byteLimit)
            return (plan, plan.rejections.count)
        }
        if let rejection = plan.rejections.first { throw Problem(rejection.reason) }
        // Its stamp is the greatest, so it is never superseded.
        return plan.accepted.first ?? SequencedRecord(record: record, sequence: 0)
    }

    private func change<Result>(
        _ id: StoreID, by changes: [Record],
        _ apply: (_ now: Int64, _ byteLimit: Int?) throws(LogError) -> (Result, rejectionCount: Int)
    ) throws(Problem) -> Result {
        if let failure { throw Problem(failure) }
        let account = try accounts.account(id.account)
        let storeLimit = account.storeLimit ?? options.storesPerAccount
        let before = ledger.history(of: id)?.end
        // A read of a removed store does not create it.
        if ledger.end(of: id) == nil, before == nil || !changes.isEmpty,
            ledger.storeCount(ofAccount: id.account) >= storeLimit
        {
            throw .tooManyStores(limit: storeLimit)
        }
        let (result, rejectionCount): (Result, Int)
        do throws(LogError) {
            (result, rejectionCount) = try apply(options.now(of: id.account), account.byteLimit)
        } catch {
            if case .storage(let failure) = error, failure.isOutOfSpace { refuseForSpace(error) }
            failIfClosed()
            throw Problem(error)
        }
        let end = ledger.history(of: id)?.end
        guard end != before || rejectionCount > 0 else { return result }
        let stored = Int((end?.sequence ?? 0) - (before?.sequence ?? 0))
        if stored > 0 {
            payForCompaction(
                recordCount: stored, byteCount: changes.reduce(0) { $0 + $1.key.text.utf8.count + $1.content.byteCount }
            )
        }
        let (byteCount, storeCount) = (ledger.memoryByteCount, ledger.storeCount)
        let isRecovered = metrics.count {
            $0.commits += 1
            $0.recordsStored += stored
            $0.recordsRejected += rejectionCount
            $0.memoryByteCount = byteCount
            $0.storeCount = storeCount
            return $0.hasOpenIncident
        }
        if isRecovered { endIncident() }
        return result
    }

    /// What was written pays for the work of compaction.
    func payForCompaction(recordCount: Int, byteCount: Int) {
        pace.credit(recordCount: recordCount, byteCount: byteCount)
    }

    /// An append that ends a segment syncs it. If that fails the log is closed, which readiness
    /// must show at once, not after the next write.
    func failIfClosed() {
        do throws(LogError) { try ledger.checkOpen() } catch { fail(error) }
    }

    /// Completes the waiting requests, closes the log and ends all live streams; later requests fail.
    /// Call it once, from any task.
    package func close() async {
        let closed = loops[0].loop.makePromise(of: Void.self)
        lock.withLock { _ in
            closer = closed
            startSyncs()
        }
        // The promise is never failed.
        try? await closed.futureResult.get()
    }

    func countStores() {
        let (byteCount, storeCount) = (ledger.memoryByteCount, ledger.storeCount)
        metrics.count {
            $0.memoryByteCount = byteCount
            $0.storeCount = storeCount
        }
    }
}

/// Syncs and new segments, on the disk's queue. The lock is held for everything but calls to the disk.
extension LogEngine {
    /// At the end of the tick: what the event loop reads in one tick is a group.
    private func scheduleSync(after loop: any EventLoop) {
        guard !isScheduled, !isSyncing else { return }
        isScheduled = true
        loop.execute { [self] in
            lock.withLock { _ in
                isScheduled = false
                startSyncs()
            }
        }
    }

    private func startSyncs() {
        guard !isSyncing else { return }
        isSyncing = true
        disk.async { [self] in runSyncs() }
    }

    private enum Step: @unchecked Sendable {
        case sync(Ledger.PendingSync, [[Completion]])
        case create(SegmentedLog.PendingSegment)
        case deliver(Outcome)
        case end
    }

    /// On the disk's queue: a sync for all that waits, and another one as long as more has come meanwhile; then the
    /// next segment, if writes wait for it.
    private func runSyncs() {
        var mayCompact = false
        while true {
            let step = lock.withLock { _ in
                if mayCompact {
                    prepareSpace()
                    compact()
                }
                return nextStep()
            }
            switch step {
            case .sync(let pending, let completions):
                let start = NIODeadline.now()
                let failure = pending.sync.perform()
                let elapsed = NIODeadline.now() - start
                deliver(lock.withLock { _ in finish(pending, failure, elapsed, completions) })
                mayCompact = true
            case .create(let pending):
                let result = pending.perform()
                deliver(lock.withLock { _ in finish(pending, result) })
                mayCompact = (try? result.get()) != nil  // `finish` has handled the error
            case .deliver(let outcome):
                deliver(outcome)
                mayCompact = true
            case .end: return
            }
        }
    }

    private func nextStep() -> Step {
        guard isWaitingForSync || hasCompacted || ledger.isSegmentDue else {
            isSyncing = false
            finishClosing()
            return .end
        }
        // `prepareSync` below meets the same error.
        if !isWaitingForSync, !hasCompacted, ledger.isDurable, let pending = try? ledger.prepareSegment() {
            return .create(pending)
        }
        hasCompacted = false
        let completions = groups
        groups = Array(repeating: [], count: loops.count)
        isWaitingForSync = false
        do throws(LogError) {
            if let pending = try ledger.prepareSync() { return .sync(pending, completions) }
            // Nothing was appended since the last sync.
            return .deliver(outcome(of: completions))
        } catch {
            return .deliver(outcome(of: completions, error))
        }
    }

    private func outcome(of completions: [[Completion]], _ error: LogError? = nil) -> Outcome {
        waitingCount -= completions.reduce(0) { $0 + $1.count }
        if let error { fail(error) }
        return Outcome(completions: completions, error: error, advanced: error == nil ? ledger.takeAdvanced() : [])
    }

    private func finish(
        _ pending: Ledger.PendingSync, _ failure: FileError?, _ elapsed: TimeAmount, _ completions: [[Completion]]
    ) -> Outcome {
        let requestCount = completions.reduce(0) { $0 + $1.count }
        metrics.count {
            $0.syncSeconds.observe(Double(elapsed.nanoseconds) / 1e9)
            if requestCount > 0 { $0.groupRequests.observe(Double(requestCount)) }
        }
        do throws(LogError) {
            try ledger.finish(pending, failure: failure)
            return outcome(of: completions)
        } catch {
            return outcome(of: completions, error)
        }
    }

    /// Answers what waited and wakes the readers, with one task for each event loop that has any. Without the lock.
    private func deliver(_ outcome: Outcome) {
        for (index, watchers) in loops.enumerated() {
            let hasReaders = watchers.count > 0 && !outcome.advanced.isEmpty
            guard hasReaders || !outcome.completions[index].isEmpty else { continue }
            watchers.loop.execute {
                for complete in outcome.completions[index] { complete(outcome.error) }
                watchers.wake(outcome.advanced)
            }
        }
    }

    /// Answers those that wait for a segment, also since it was planned.
    private func finish(_ pending: SegmentedLog.PendingSegment, _ result: Result<any LogFile, FileError>) -> Outcome {
        let completions = parked
        parked = Array(repeating: [], count: loops.count)
        do throws(LogError) {
            try ledger.finish(pending, result)
            return outcome(of: completions)
        } catch {
            let requestCount = completions.reduce(0) { $0 + $1.count }
            waitingCount -= requestCount
            if case .storage(let failure) = error, failure.isOutOfSpace {
                for _ in 0..<requestCount { refuseForSpace(error) }
            }
            if requestCount == 0 { logger.error("cannot compact the log: \(error)") }
            compactWhenIdle(after: Self.retryDelay)
            return Outcome(completions: completions, error: error, advanced: [])
        }
    }

    private func finishClosing() {
        guard let closer, !isClosed else { return }
        isClosed = true
        do throws(LogError) { try ledger.close() } catch {
            logger.error("cannot close the log: \(error)")
        }
        closer.succeed()
    }
}

/// Compaction between groups and in idle time. With the lock.
extension LogEngine {
    /// Makes a bounded number of steps between two groups. The next sync covers what they move; it
    /// begins at once if no request waits.
    private func compact() {
        let isDone = step(pace.takeSteps(isDue: ledger.isCompactionDue))
        compactWhenIdle(after: isDone ? Self.idleDelay : Self.retryDelay)
    }

    private static let idleDelay = TimeAmount.milliseconds(20)
    private static let retryDelay = TimeAmount.seconds(60)

    /// While no request waits, a step holds nobody up, so compaction goes on without writes that pay for it. So does
    /// that of a log which a former run has left.
    private func compactWhenIdle(after delay: TimeAmount) {
        guard !isIdleStepScheduled, failure == nil, closer == nil, !isCompactionDisabled,
            ledger.isCompactionDue
        else { return }
        isIdleStepScheduled = true
        loops[0].loop.scheduleTask(in: delay) { [self] in
            lock.withLock { _ in
                isIdleStepScheduled = false
                guard !isWaitingForSync, !isSyncing else { return compactWhenIdle(after: delay) }
                if step(1) { startSyncs() } else { compactWhenIdle(after: Self.retryDelay) }
            }
        }
    }

    /// Returns false when a step failed.
    private func step(_ count: Int) -> Bool {
        guard failure == nil, closer == nil, !isCompactionDisabled else { return true }
        do throws(LogError) {
            for _ in 0..<count where ledger.isCompactionDue {
                try ledger.compactStep()
                hasCompacted = true
                metrics.count { $0.compactionSteps += 1 }
            }
            return true
        } catch .needsSegment {
            return true
        } catch {
            // Nothing is lost: the frames to be moved are still in their old segment.
            logger.error("cannot compact the log: \(error)")
            switch error {
            case .damaged, .removed: isCompactionDisabled = true
            default: break
            }
            failIfClosed()
            return false
        }
    }
}

/// A failed sync, and how the engine goes on after it.
extension LogEngine {
    private func fail(_ error: LogError) {
        guard failure == nil else { return }
        failure = error
        metrics.count { $0.hasFailed = true }
        beginFailure(error)
        // No segment is coming for those that wait for one.
        for (index, completions) in parked.enumerated() where !completions.isEmpty {
            groups[index] += completions
            parked[index] = []
            isWaitingForSync = true
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
            let pending = try read { () throws(LogError) in
                closer == nil ? try ledger.prepareRecovery() : nil
            }
            guard let pending else { return }
            let result = pending.segment.perform()
            deliver(try read { () throws(LogError) in try finish(pending, result) })
        } catch {
            logger.debug("the log cannot recover yet: \(error)")
            recover(after: min(delay * 2, .seconds(5)))
        }
    }

    private func finish(
        _ pending: Ledger.PendingRecovery, _ result: Result<any LogFile, FileError>
    ) throws(LogError) -> Outcome {
        try ledger.finish(pending, result)
        failure = nil
        metrics.count { $0.hasFailed = false }
        endIncident()
        prepareSpace()
        compactWhenIdle(after: Self.idleDelay)
        return outcome(of: groups.map { _ in [] })
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
