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
    /// Set before the first request; nil in a daemon.
    weak var interceptor: (any RequestInterceptor)?
    let logger: Logger

    /// The event loops that serve connections, each with its live readers.
    package let loops: [WatcherRegistry]
    let lock = Mutex(())
    let disk = DispatchQueue(label: "ubiquity.kvsd.disk", qos: .userInteractive)
    private let background = DispatchQueue(label: "ubiquity.kvsd.background", qos: .utility)

    package let ledger: Ledger
    /// What waits for the next sync, for each event loop.
    var groups: [[Completion]]
    var isWaitingForSync = false
    /// What waits for the log's next segment, for each event loop.
    var parked: [[Completion]]
    /// Requests of this group, of the one that is being synced, and those that wait for a segment.
    var waitingCount = 0 {
        didSet { metrics.count { $0.waiting = waitingCount } }
    }
    /// Whether syncs begin at the end of an event loop's tick.
    var isScheduled = false
    /// Whether `runSyncs` runs.
    var isSyncing = false
    /// Whether compaction has moved or removed something since the last sync began.
    var hasCompacted = false
    /// An old segment is damaged: it stays, and the log grows until the next start.
    var isCompactionDisabled = false
    var pace: CompactionPace
    var isIdleStepScheduled = false
    /// Why the log accepts no writes for now.
    var failure: LogError?
    var closer: EventLoopPromise<Void>?
    var isClosed = false

    typealias Completion = (LogError?) -> Void

    /// What a sync has brought. Unchecked because each completion is called on its own event loop.
    struct Outcome: @unchecked Sendable {
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
            stepByteCount: options.ledger.compactionByteCount,
            segmentByteCount: options.ledger.segmentByteCount)
        countStores()
        prepareSpace()
        compactWhenIdle(after: Self.idleDelay)
    }

    func prepareSpace() {
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
    package func read<Value: Sendable, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try lock.withLock { _ throws(Failure) in try body() }
    }

    /// Throws unless a request can be applied now. One that only reads need not wait if everything is durable.
    func admit(isRead: Bool = false) throws(Problem) {
        if closer != nil { throw .stopping }
        guard waitingCount < options.waitingCount || isRead && ledger.isDurable else {
            throw .busy
        }
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
            if case .storage(let failure) = error, failure.isOutOfSpace { noteFullDisk(error) }
            failIfClosed()
            throw Problem(error)
        }
        let end = ledger.history(of: id)?.end
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
