import KVStoreLog
import LocalFiles
import Logging

/// What an operator must know: logged once when it begins and once when it ends, and shown by `kvsd status`.
extension LogEngine {
    func noteFailure(_ error: LogError) {
        let cause =
            if case .closedByFailure(let failure) = error { failure.description } else {
                error.description
            }
        beginIncident("\(cause); no writes until the disk works again, which needs no restart")
    }

    func noteFullDisk(_ error: LogError) {
        metrics.count { $0.requestsRefusedForSpace += 1 }
        beginIncident("the disk is full: \(error); free space, which needs no restart")
    }

    /// Calls of one incident after the first change nothing.
    private func beginIncident(_ text: String) {
        if metrics.beginIncident(text, now: options.now()) { logger.critical("\(text)") }
    }

    func endIncident() {
        if metrics.endIncident(now: options.now()) { logger.notice("writes are accepted again") }
    }
}
