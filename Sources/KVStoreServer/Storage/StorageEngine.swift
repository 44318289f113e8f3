import Dispatch
import KVStoreCore
import KVStoreLedger
import KVStoreLog
import KVStoreWire
import LocalFiles
import Logging
import NIOCore
import NIOPosix

/// The owner of the ledger, with group commit: all waiting requests share one disk sync.
///
/// A request is applied and appended at once, in the order of arrival; its answer leaves after a
/// sync that began later. The requests that the event loop reads in one tick are a group. While a sync runs on its
/// own queue, further requests append and gather for the next one. A failed append changes nothing. After a failed sync
/// memory holds what the disk may lack: the waiting requests fail, readers see only what earlier syncs have covered, and
/// no write is accepted until the log has recovered, which is tried again and again.
///
/// On its event loop only, except for `close`; unchecked for that reason.
final class StorageEngine: @unchecked Sendable {
    struct Options: Sendable {
        var ledger = Ledger.Options()
        /// Requests that may wait for the disk at a time.
        var waitingCount = 1_024
        var storesPerAccount = 1_024
        /// Time until the first attempt to recover from a failed sync; each one after it takes twice as long, up to a minute.
        var recoveryDelay = TimeAmount.seconds(1)
        /// Milliseconds since 1970.
        var now: @Sendable () -> Int64 = { ServerClock.wallMilliseconds() }
    }

    let recovery: LogRecovery
    let options: Options
    let watchers = WatcherRegistry()
    let metrics = Metrics()
    private let logger: Logger

    let loop: any EventLoop
    private let disk = DispatchQueue(label: "ubiquity.kvsd.disk", qos: .userInteractive)
    private let background = DispatchQueue(label: "ubiquity.kvsd.background", qos: .utility)

    let ledger: Ledger
    private var group: [(LogError?) -> Void] = []
    /// Requests of this group and of the one that is being synced.
    private var waitingCount = 0 {
        didSet { metrics.count { $0.waiting = waitingCount } }
    }
    /// Whether the next group begins at the end of this tick.
    private var isScheduled = false
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

    /// Opens the log in `storage`, whose lock the caller holds. Blocks.
    init(
        storage: any LogStorage, options: Options = Options(), seed: UInt64, logger: Logger,
        loop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next()
    ) throws(LogError) {
        self.loop = loop
        ledger = try Ledger(storage: storage, options: options.ledger, seed: seed)
        recovery = ledger.recovery
        self.options = options
        self.logger = logger
        pace = CompactionPace(
            stepByteCount: options.ledger.compactionByteCount,
            segmentByteCount: options.ledger.segmentByteCount)
        countStores()
        prepareSpace()
        loop.execute { [self] in compactWhenIdle(after: Self.idleDelay) }
    }

    private func prepareSpace() {
        if let prepare = ledger.spaceToPrepare() { background.async(execute: prepare) }
    }

    // MARK: - Requests

    /// Throws unless a request that needs the disk can be applied now.
    func admit() throws(Problem) {
        if closer != nil { throw .stopping }
        guard waitingCount < options.waitingCount else { throw .busy }
    }

    /// Completes after a sync that covers everything that has been applied; at once if one has already, or if no sync
    /// will: after a failure, requests see only what is durable.
    func whenDurable(_ complete: @escaping (LogError?) -> Void) {
        guard failure == nil, !ledger.isDurable else { return complete(nil) }
        group.append(complete)
        waitingCount += 1
        scheduleSync()
    }

    /// Applies a request; the answer must wait for a sync.
    func apply(_ request: SyncRequest, to id: StoreID) throws(Problem) -> SyncResponse {
        try change(id, by: request.changes) { now throws(LogError) in
            let response = try ledger.apply(request, to: id, now: now)
            return (response, response.rejections.count)
        }
    }

    /// Applies a change; what it has become must wait for a sync.
    func apply(_ record: Record, to id: StoreID) throws(Problem) -> SequencedRecord {
        let plan = try change(id, by: [record]) { now throws(LogError) in
            let plan = try ledger.accept([record], to: id, now: now)
            return (plan, plan.rejections.count)
        }
        if let rejection = plan.rejections.first { throw Problem(rejection.reason) }
        // Its stamp is the greatest, so it is never superseded.
        return plan.accepted.first ?? SequencedRecord(record: record, sequence: 0)
    }

    private func change<Result>(
        _ id: StoreID, by changes: [Record],
        _ apply: (_ now: Int64) throws(LogError) -> (Result, rejectionCount: Int)
    ) throws(Problem) -> Result {
        if let failure { throw Problem(failure) }
        let before = ledger.end(of: id)
        if before == nil, ledger.storeCount(ofAccount: id.account) >= options.storesPerAccount {
            throw .tooManyStores(limit: options.storesPerAccount)
        }
        let (result, rejectionCount): (Result, Int)
        do throws(LogError) {
            (result, rejectionCount) = try apply(options.now())
        } catch {
            if case .storage(let failure) = error, failure.isOutOfSpace {
                metrics.count { $0.requestsRefusedForSpace += 1 }
            }
            failIfClosed()
            throw Problem(error)
        }
        let end = ledger.end(of: id)
        guard end != before || rejectionCount > 0 else { return result }
        let stored = Int((end?.sequence ?? 0) - (before?.sequence ?? 0))
        if stored > 0 {
            pace.note(
                recordCount: stored,
                byteCount: changes.reduce(0) {
                    $0 + $1.key.text.utf8.count + $1.content.byteCount
                })
        }
        let (byteCount, storeCount) = (ledger.memoryByteCount, ledger.storeCount)
        metrics.count {
            $0.commits += 1
            $0.recordsStored += stored
            $0.recordsRejected += rejectionCount
            $0.memoryByteCount = byteCount
            $0.storeCount = storeCount
        }
        return result
    }

    /// An append that ends a segment syncs it. If that fails the log is closed, which readiness
    /// must show at once, not after the next write.
    private func failIfClosed() {
        do throws(LogError) { try ledger.checkOpen() } catch { fail(error) }
    }

    /// Completes the waiting requests, closes the log and ends all live streams; later requests fail.
    /// Call it once, from any task.
    func close() async {
        let closed = loop.makePromise(of: Void.self)
        loop.execute { [self] in
            closer = closed
            startSync()
        }
        // The promise is never failed.
        try? await closed.futureResult.get()
    }

    // MARK: - Group commit

    /// At the end of the tick: what the event loop reads in one tick is a group.
    private func scheduleSync() {
        guard !isScheduled, !isSyncing else { return }
        isScheduled = true
        loop.execute { [self] in
            isScheduled = false
            startSync()
        }
    }

    private func startSync() {
        guard !isSyncing else { return }
        guard !group.isEmpty || hasCompacted else { return finishClosing() }
        hasCompacted = false
        let members = group
        group = []
        do throws(LogError) {
            guard let pending = try ledger.prepareSync() else {
                // The end of a segment has synced everything, or nothing was appended.
                finish(members, nil)
                watchers.wake(ledger.takeAdvanced())
                compact()
                return hasCompacted ? startSync() : finishClosing()
            }
            isSyncing = true
            let finished = NIOLoopBound(
                { [self] (failure: FileError?, elapsed: TimeAmount) in
                    isSyncing = false
                    finishSync(pending, failure, elapsed, members)
                }, eventLoop: loop)
            disk.async { [loop] in
                let (failure, elapsed) = Self.perform(pending)
                loop.execute { finished.value(failure, elapsed) }
            }
        } catch {
            fail(error)
            finish(members, error)
            finishClosing()
        }
    }

    private static func perform(
        _ pending: Ledger.PendingSync
    ) -> (failure: FileError?, elapsed: TimeAmount) {
        let start = NIODeadline.now()
        let failure = pending.sync.perform()
        return (failure, NIODeadline.now() - start)
    }

    private func finishSync(
        _ pending: Ledger.PendingSync, _ failure: FileError?, _ elapsed: TimeAmount,
        _ members: [(LogError?) -> Void]
    ) {
        metrics.count {
            $0.syncs += 1
            $0.syncNanoseconds += elapsed.nanoseconds
        }
        do throws(LogError) {
            try ledger.finish(pending, failure: failure)
            finish(members, nil)
            watchers.wake(ledger.takeAdvanced())
        } catch {
            fail(error)
            finish(members, error)
        }
        prepareSpace()
        compact()
        startSync()
    }

    private func finish(_ members: [(LogError?) -> Void], _ error: LogError?) {
        waitingCount -= members.count
        for member in members { member(error) }
    }

    private func fail(_ error: LogError) {
        guard failure == nil else { return }
        failure = error
        metrics.count { $0.hasFailed = true }
        logger.critical("no writes until the disk works again: \(error)")
        recover(after: options.recoveryDelay)
    }

    private func recover(after delay: TimeAmount) {
        loop.scheduleTask(in: delay) { [self] in
            guard closer == nil else { return }
            do throws(LogError) { try ledger.recover() } catch {
                logger.error("the log cannot recover yet: \(error)")
                return recover(after: min(delay * 2, .minutes(1)))
            }
            failure = nil
            metrics.count { $0.hasFailed = false }
            logger.notice("the log has recovered; writes are accepted again")
            watchers.wake(ledger.takeAdvanced())
            prepareSpace()
            compact()
        }
    }

    /// Makes a bounded number of steps between two groups. The next sync covers what they move; it
    /// begins at once if no request waits.
    private func compact() {
        let isDone = step(pace.takeSteps(isDue: ledger.isCompactionDue))
        compactWhenIdle(after: isDone ? Self.idleDelay : Self.retryDelay)
    }

    private static let idleDelay = TimeAmount.milliseconds(20)
    private static let retryDelay = TimeAmount.seconds(60)

    /// While no request waits, a step holds nobody up, so compaction goes on without writes that pay for it. So does that
    /// of a log which a former run has left.
    private func compactWhenIdle(after delay: TimeAmount) {
        guard !isIdleStepScheduled, failure == nil, closer == nil, !isCompactionDisabled,
            ledger.isCompactionDue
        else { return }
        isIdleStepScheduled = true
        loop.scheduleTask(in: delay) { [self] in
            isIdleStepScheduled = false
            guard group.isEmpty, !isSyncing else { return compactWhenIdle(after: delay) }
            if step(1) { startSync() } else { compactWhenIdle(after: Self.retryDelay) }
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

    private func finishClosing() {
        guard let closer, !isClosed, !isSyncing, group.isEmpty else { return }
        isClosed = true
        do throws(LogError) { try ledger.close() } catch {
            logger.error("cannot close the log: \(error)")
        }
        closer.succeed()
    }

    private func countStores() {
        let (byteCount, storeCount) = (ledger.memoryByteCount, ledger.storeCount)
        metrics.count {
            $0.memoryByteCount = byteCount
            $0.storeCount = storeCount
        }
    }
}
