import Dispatch
import KVStore
import Logging
import Synchronization

/// The one owner of the ledger, and group commit: everything that waits shares one disk sync.
///
/// A request is applied and appended at once, in the order of arrival; its answer leaves after a
/// sync that began later. While a sync runs on its own queue, further requests append and gather
/// for the next one. An append that fails changes nothing in memory, so memory never holds what the
/// log may lack, except after a failed sync: then no write is accepted until the next start, and
/// readers are shown only what earlier syncs have covered.
///
/// Safe to call from any task. Unchecked because what is mutable is touched on `owner` only.
final class StoreKeeper: @unchecked Sendable {
    struct Options: Sendable {
        var ledger = HubLedger.Options()
        /// Requests that may wait for the disk at a time.
        var waitingCount = 1_024
        var storesPerAccount = 1_024
        /// Milliseconds since 1970.
        var now: @Sendable () -> Int64 = { DaemonClock.wallMilliseconds() }
    }

    let recovery: LogRecovery
    let options: Options
    let counters = Mutex(KeeperCounters())
    let watchers = WatcherRegistry()
    let logger: Logger

    private let owner = DispatchQueue(label: "ubiquity.kvsd.owner")
    private let disk = DispatchQueue(label: "ubiquity.kvsd.disk")

    // On `owner` only.
    let ledger: HubLedger
    private var group: [@Sendable (StoreFault?) -> Void] = []
    private var touched: Set<StoreID> = []
    private var isSyncing = false
    /// Whether compaction has moved or removed something since the last sync began.
    private var hasMoved = false
    /// An old segment is no longer what was written: it stays, and the log grows until kvsd is started again.
    private var isCompactionOver = false
    private var pace: CompactionPace
    private var failure: StoreFault?
    private var closer: Waiter<Void>?
    private var isClosed = false

    /// Opens the log in `storage`, whose lock the caller holds. Blocks.
    init(
        storage: any LogStorage, options: Options = Options(), seed: UInt64, logger: Logger
    ) throws(LogError) {
        ledger = try HubLedger(storage: storage, options: options.ledger, seed: seed)
        recovery = ledger.recovery
        self.options = options
        self.logger = logger
        pace = CompactionPace(
            stepByteCount: options.ledger.compactionByteCount,
            segmentByteCount: options.ledger.segmentByteCount)
        count { [ledger] in
            $0.liveByteCount = ledger.liveByteCount
            $0.storeCount = ledger.storeCount
        }
    }

    // MARK: - Calls

    /// Runs `body` on the owner and gives what it returns.
    ///
    /// It does not wait for the disk and takes no place among the requests that do: live streams go
    /// on where no further write is accepted. How many there are, the connections bound.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (StoreKeeper) throws(StoreFault) -> Value
    ) async throws(StoreFault) -> Value {
        let waiter = Waiter<Value>()
        owner.async { [self] in
            do throws(StoreFault) {
                waiter.resume(.success(try body(self)))
            } catch {
                waiter.resume(.failure(error))
            }
        }
        return try await waiter.value()
    }

    /// Runs `body`, which may append, on the owner; gives what it returns after a sync that covers
    /// all that it did and saw.
    func commit<Value: Sendable>(
        _ body: @escaping @Sendable (StoreKeeper) throws(StoreFault) -> Value
    ) async throws(StoreFault) -> Value {
        let waiter = Waiter<Value>()
        try enter()
        owner.async { [self] in
            do throws(StoreFault) {
                if closer != nil { throw .stopping }
                if let failure { throw failure }
                let value = try body(self)
                group.append { fault in
                    self.leave()
                    waiter.resume(fault.map { .failure($0) } ?? .success(value))
                }
            } catch {
                leave()
                waiter.resume(.failure(error))
                noteRefusal(error)
            }
            startSync()
        }
        return try await waiter.value()
    }

    /// Whether a failed sync has ended writing. On the owner only.
    var hasFailed: Bool { failure != nil }

    /// Notes what a request has done to a store. On the owner only.
    func noteStored(_ id: StoreID, recordCount: Int, byteCount: Int, refused: Int) {
        touched.insert(id)
        pace.note(recordCount: recordCount, byteCount: byteCount)
        count { [ledger] in
            $0.commits += 1
            $0.recordsStored += recordCount
            $0.recordsRefused += refused
            $0.liveByteCount = ledger.liveByteCount
            $0.storeCount = ledger.storeCount
        }
    }

    private func noteRefusal(_ fault: StoreFault) {
        switch fault {
        case .diskFull: count { $0.refusedForSpace += 1 }
        case .diskFailed: break
        default: return
        }
        // An append that ends a segment syncs it. Where that has failed the log is closed, and
        // whoever asks whether writes are taken hears so at once, not after the next write.
        do throws(LogError) { try ledger.checkOpen() } catch { fail(error) }
    }

    /// Answers what waits, syncs, closes the log and ends every live stream; later calls that write
    /// fail.
    func close() async {
        watchers.finish()
        let waiter = Waiter<Void>()
        owner.async { [self] in
            closer = waiter
            startSync()
        }
        try? await waiter.value()
    }

    // MARK: - Group commit

    private func startSync() {
        guard !isSyncing else { return }
        guard !group.isEmpty || hasMoved else { return finishClosing() }
        hasMoved = false
        let members = group
        let stores = touched
        group = []
        touched = []
        do throws(LogError) {
            guard let pending = try ledger.prepareSync() else {
                // A segment's end has synced it all already, or nothing was appended.
                finish(members, stores, fault: nil)
                compact()
                return hasMoved ? startSync() : finishClosing()
            }
            isSyncing = true
            disk.async { [self] in
                let start = DaemonClock.monotonicMilliseconds()
                let failure = pending.sync.perform()
                let elapsed = DaemonClock.monotonicMilliseconds() - start
                owner.async { [self] in
                    isSyncing = false
                    count {
                        $0.syncs += 1
                        $0.syncMilliseconds += Int(elapsed)
                    }
                    do throws(LogError) {
                        let news = try ledger.finish(pending, failure: failure)
                        finish(members, stores.union(news), fault: nil)
                    } catch {
                        fail(error)
                        finish(members, stores, fault: self.failure)
                    }
                    compact()
                    startSync()
                }
            }
        } catch {
            fail(error)
            finish(members, stores, fault: failure)
            finishClosing()
        }
    }

    private func finish(
        _ members: [@Sendable (StoreFault?) -> Void], _ stores: Set<StoreID>, fault: StoreFault?
    ) {
        for member in members { member(fault) }
        if fault == nil { watchers.wake(stores) }
    }

    private func fail(_ error: LogError) {
        guard failure == nil else { return }
        failure = .diskFailed(error.description)
        count { $0.hasFailed = true }
        logger.critical("no more writes until kvsd is started again: \(error)")
    }

    /// Bounded steps between two groups. What they move is synced with the next group, or at once where
    /// nothing waits.
    private func compact() {
        guard failure == nil, closer == nil, !isCompactionOver else { return }
        do throws(LogError) {
            for _ in 0..<pace.takeSteps(isDue: ledger.isCompactionDue)
            where ledger.isCompactionDue {
                try ledger.compactStep()
                hasMoved = true
                count { $0.compactionSteps += 1 }
            }
        } catch {
            // Nothing is lost: what was to be moved still stands where it was.
            logger.error("could not compact the log: \(error)")
            switch error {
            case .damaged, .removed: isCompactionOver = true
            default: break
            }
            // A step that ends a segment syncs it.
            do throws(LogError) { try ledger.checkOpen() } catch { fail(error) }
        }
    }

    private func finishClosing() {
        guard let closer, !isClosed, !isSyncing, group.isEmpty else { return }
        isClosed = true
        do throws(LogError) {
            try ledger.close()
        } catch {
            logger.error("could not close the log: \(error)")
        }
        closer.resume(.success(()))
    }

    // MARK: - Bounds

    private func enter() throws(StoreFault) {
        let isFree = counters.withLock { counters in
            guard counters.waiting < options.waitingCount else { return false }
            counters.waiting += 1
            return true
        }
        if !isFree { throw .busy }
    }

    private func leave() { count { $0.waiting -= 1 } }

    private func count(_ change: (inout KeeperCounters) -> Void) {
        counters.withLock { change(&$0) }
    }
}
