import Dispatch
import KVStoreCore
import KVStoreLedger
import KVStoreLog
import KVStoreWire
import LocalFiles
import Logging

/// The owner of the ledger, with group commit: all waiting requests share one disk sync.
///
/// A request is applied and appended at once, in the order of arrival; its answer leaves after a
/// sync that began later. While a sync runs on its own queue, further requests append and gather
/// for the next one. A failed append changes nothing in memory, so memory never holds what the log
/// may lack, except after a failed sync: then no write is accepted until the next start, and
/// readers see only what earlier syncs have covered.
///
/// Safe to call from any task. Unchecked because its mutable state is used on `owner` only.
final class StorageEngine: @unchecked Sendable {
    struct Options: Sendable {
        var ledger = Ledger.Options()
        /// Requests that may wait for the disk at a time.
        var waitingCount = 1_024
        var storesPerAccount = 1_024
        /// Milliseconds since 1970.
        var now: @Sendable () -> Int64 = { ServerClock.wallMilliseconds() }
    }

    let recovery: LogRecovery
    let options: Options
    let watchers = WatcherRegistry()
    let metrics = Metrics()
    private let logger: Logger

    private let owner = DispatchQueue(label: "ubiquity.kvsd.owner")
    private let disk = DispatchQueue(label: "ubiquity.kvsd.disk")

    // On `owner` only.
    let ledger: Ledger
    private var group: [@Sendable (LogError?) -> Void] = []
    /// Stores that requests have changed since the last sync began.
    private var changed: Set<StoreID> = []
    private var isSyncing = false
    /// Whether compaction has moved or removed something since the last sync began.
    private var hasCompacted = false
    /// An old segment is damaged: it stays, and the log grows until the next start.
    private var isCompactionDisabled = false
    private var pace: CompactionPace
    /// Why the log accepts no more writes.
    private(set) var failure: LogError?
    private var closer: CheckedContinuation<Void, Never>?
    private var isClosed = false

    /// Opens the log in `storage`, whose lock the caller holds. Blocks.
    init(
        storage: any LogStorage, options: Options = Options(), seed: UInt64, logger: Logger
    ) throws(LogError) {
        ledger = try Ledger(storage: storage, options: options.ledger, seed: seed)
        recovery = ledger.recovery
        self.options = options
        self.logger = logger
        pace = CompactionPace(
            stepByteCount: options.ledger.compactionByteCount,
            segmentByteCount: options.ledger.segmentByteCount)
        countStores()
    }

    // MARK: - Calls

    /// Runs `body` on the owner without waiting for the disk, even after a failed sync.
    ///
    /// Not bounded like `commit`, so that live streams continue while writes are refused; the limit on
    /// connections bounds it.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (StorageEngine) throws(Problem) -> Value
    ) async throws(Problem) -> Value {
        let result: Result<Value, Problem> = await withCheckedContinuation { continuation in
            owner.async { [self] in
                continuation.resume(
                    returning: Result { () throws(Problem) in try body(self) })
            }
        }
        return try result.get()
    }

    /// Runs `body`, which may append, on the owner; returns its result after a sync that covers
    /// everything it did and saw.
    func commit<Value: Sendable>(
        _ body: @escaping @Sendable (StorageEngine) throws(Problem) -> Value
    ) async throws(Problem) -> Value {
        let isAccepted = metrics.count { counters in
            guard counters.waiting < options.waitingCount else { return false }
            counters.waiting += 1
            return true
        }
        guard isAccepted else { throw .busy }
        let result: Result<Value, Problem> = await withCheckedContinuation { continuation in
            owner.async { [self] in
                do throws(Problem) {
                    if closer != nil { throw .stopping }
                    if let failure { throw Problem(failure) }
                    let value = try body(self)
                    group.append { error in
                        continuation.resume(
                            returning: error.map { .failure(Problem($0)) } ?? .success(value))
                    }
                } catch {
                    metrics.count { $0.waiting -= 1 }
                    continuation.resume(returning: .failure(error))
                }
                startSync()
            }
        }
        return try result.get()
    }

    /// Runs `body` as a commit, so that it sees only what is durable; after a failed sync as a read,
    /// in which `body` itself must leave out what no sync has covered.
    func commitOrRead<Value: Sendable>(
        _ body: @escaping @Sendable (StorageEngine) throws(Problem) -> Value
    ) async throws(Problem) -> Value {
        do throws(Problem) {
            return try await commit(body)
        } catch {
            guard metrics.counters.hasFailed else { throw error }
            return try await read(body)
        }
    }

    /// Applies a request. On the owner only; the answer must wait for a sync.
    func apply(_ request: SyncRequest, to id: StoreID) throws(Problem) -> SyncResponse {
        let before = ledger.hub(id)?.end
        if before == nil,
            ledger.stores(ofAccount: id.account).count >= options.storesPerAccount
        {
            throw .tooManyStores(limit: options.storesPerAccount)
        }
        let response: SyncResponse
        do throws(LogError) {
            response = try ledger.apply(request, to: id, now: options.now())
        } catch {
            if case .storage(let failure) = error, failure.isOutOfSpace {
                metrics.count { $0.requestsRefusedForSpace += 1 }
            }
            failIfClosed()
            throw Problem(error)
        }
        let end = ledger.hub(id)?.end
        guard end != before || !response.rejections.isEmpty else { return response }
        let stored = Int((end?.sequence ?? 0) - (before?.sequence ?? 0))
        if stored > 0 {
            pace.note(
                recordCount: stored,
                byteCount: request.changes.reduce(0) {
                    $0 + $1.key.text.utf8.count + $1.content.byteCount
                })
        }
        changed.insert(id)
        metrics.count {
            $0.commits += 1
            $0.recordsStored += stored
            $0.recordsRejected += response.rejections.count
        }
        countStores()
        return response
    }

    /// An append that ends a segment syncs it. If that fails the log is closed, which readiness
    /// must show at once, not after the next write.
    private func failIfClosed() {
        do throws(LogError) { try ledger.checkOpen() } catch { fail(error) }
    }

    /// Completes the waiting requests, closes the log and ends all live streams; later commits fail.
    /// Call it once.
    func close() async {
        watchers.finish()
        await withCheckedContinuation { continuation in
            owner.async { [self] in
                closer = continuation
                startSync()
            }
        }
    }

    // MARK: - Group commit

    private func startSync() {
        guard !isSyncing else { return }
        guard !group.isEmpty || hasCompacted else { return finishClosing() }
        hasCompacted = false
        let (members, stores) = (group, changed)
        group = []
        changed = []
        do throws(LogError) {
            guard let pending = try ledger.prepareSync() else {
                // The end of a segment has synced everything, or nothing was appended.
                finish(members, nil)
                watchers.wake(stores)
                compact()
                return hasCompacted ? startSync() : finishClosing()
            }
            isSyncing = true
            disk.async { [self] in
                let start = System.monotonicMilliseconds()
                let failure = pending.sync.perform()
                let elapsed = System.monotonicMilliseconds() - start
                owner.async { [self] in
                    isSyncing = false
                    metrics.count {
                        $0.syncs += 1
                        $0.syncMilliseconds += Int(elapsed)
                    }
                    do throws(LogError) {
                        let advanced = try ledger.finish(pending, failure: failure)
                        finish(members, nil)
                        watchers.wake(stores.union(advanced))
                    } catch {
                        fail(error)
                        finish(members, error)
                    }
                    compact()
                    startSync()
                }
            }
        } catch {
            fail(error)
            finish(members, error)
            finishClosing()
        }
    }

    private func finish(_ members: [@Sendable (LogError?) -> Void], _ error: LogError?) {
        metrics.count { $0.waiting -= members.count }
        for member in members { member(error) }
    }

    private func fail(_ error: LogError) {
        guard failure == nil else { return }
        failure = error
        metrics.count { $0.hasFailed = true }
        logger.critical("no more writes until the next start: \(error)")
    }

    /// Makes a bounded number of steps between two groups. The next sync covers what they move; it
    /// begins at once if no request waits.
    private func compact() {
        guard failure == nil, closer == nil, !isCompactionDisabled else { return }
        do throws(LogError) {
            for _ in 0..<pace.takeSteps(isDue: ledger.isCompactionDue)
            where ledger.isCompactionDue {
                try ledger.compactStep()
                hasCompacted = true
                metrics.count { $0.compactionSteps += 1 }
            }
        } catch {
            // Nothing is lost: the frames to be moved are still in their old segment.
            logger.error("cannot compact the log: \(error)")
            switch error {
            case .damaged, .removed: isCompactionDisabled = true
            default: break
            }
            failIfClosed()
        }
    }

    private func finishClosing() {
        guard let closer, !isClosed, !isSyncing, group.isEmpty else { return }
        isClosed = true
        do throws(LogError) { try ledger.close() } catch {
            logger.error("cannot close the log: \(error)")
        }
        closer.resume()
    }

    private func countStores() {
        let (byteCount, storeCount) = (ledger.liveByteCount, ledger.storeCount)
        metrics.count {
            $0.liveByteCount = byteCount
            $0.storeCount = storeCount
        }
    }
}
