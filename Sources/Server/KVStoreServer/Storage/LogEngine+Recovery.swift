import Dispatch
import KVStoreLedger
import KVStoreLog
import LocalFiles
import Logging
import NIOCore

/// A failed sync, and how the engine goes on after it.
extension LogEngine {
    func fail(_ error: LogError) {
        guard failure == nil else { return }
        failure = error
        metrics.count { $0.hasFailed = true }
        noteFailure(error)
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
