import KVStoreLedger
import KVStoreLog
import Logging
import NIOCore
import Synchronization

/// Compaction between groups and in idle time. With the lock.
extension LogEngine {
    /// Makes a bounded number of steps between two groups. The next sync covers what they move; it
    /// begins at once if no request waits.
    func compact() {
        let isDone = step(pace.takeSteps(isDue: ledger.isCompactionDue))
        compactWhenIdle(after: isDone ? Self.idleDelay : Self.retryDelay)
    }

    static let idleDelay = TimeAmount.milliseconds(20)
    static let retryDelay = TimeAmount.seconds(60)

    /// While no request waits, a step holds nobody up, so compaction goes on without writes that pay for it. So does
    /// that of a log which a former run has left.
    func compactWhenIdle(after delay: TimeAmount) {
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
