import Dispatch
import KVStoreLedger
import KVStoreLog
import LocalFiles
import Logging
import NIOCore
import Synchronization

/// Syncs and new segments, on the disk's queue. The lock is held for everything but calls to the disk.
extension LogEngine {
    /// At the end of the tick: what the event loop reads in one tick is a group.
    func scheduleSync(after loop: any EventLoop) {
        guard !isScheduled, !isSyncing else { return }
        isScheduled = true
        loop.execute { [self] in
            lock.withLock { _ in
                isScheduled = false
                startSyncs()
            }
        }
    }

    func startSyncs() {
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
                mayCompact = (try? result.get()) != nil
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

    func outcome(of completions: [[Completion]], _ error: LogError? = nil) -> Outcome {
        waitingCount -= completions.reduce(0) { $0 + $1.count }
        if let error { fail(error) }
        return Outcome(completions: completions, error: error, advanced: error == nil ? ledger.takeAdvanced() : [])
    }

    private func finish(
        _ pending: Ledger.PendingSync, _ failure: FileError?, _ elapsed: TimeAmount,
        _ completions: [[Completion]]
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
    func deliver(_ outcome: Outcome) {
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
    private func finish(
        _ pending: SegmentedLog.PendingSegment, _ result: Result<any LogFile, FileError>
    ) -> Outcome {
        let completions = parked
        parked = Array(repeating: [], count: loops.count)
        do throws(LogError) {
            try ledger.finish(pending, result)
            return outcome(of: completions)
        } catch {
            let requestCount = completions.reduce(0) { $0 + $1.count }
            waitingCount -= requestCount
            if case .storage(let failure) = error, failure.isOutOfSpace {
                for _ in 0..<requestCount { noteFullDisk(error) }
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
