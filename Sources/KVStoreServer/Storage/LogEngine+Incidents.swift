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
        let incident = ServerReport.Incident(text: text, time: options.now())
        let isFirst = metrics.count { counters in
            guard !counters.hasOpenIncident else { return false }
            counters.incident = incident
            return true
        }
        if isFirst { logger.critical("\(text)") }
    }

    func endIncident() {
        let now = options.now()
        let isLast = metrics.count { counters in
            guard counters.hasOpenIncident else { return false }
            counters.incident?.recovered = now
            return true
        }
        if isLast { logger.notice("writes are accepted again") }
    }
}

extension Metrics.Counters {
    var hasOpenIncident: Bool { incident.map { $0.recovered == nil } ?? false }
}
