import Foundation
import KVStore
import Synchronization

extension SimulatedCloud {
    /// - Parameter isStuck: whether the run has not ended although it was cancelled.
    func stillMoving(after limit: CloudError.Limit, isStuck: Bool = false) -> CloudError {
        let (writes, delivering) = state.withLock { ($0.writes, $0.delivering) }
        var causes = writes.leaders.map { writer, count in
            cause(of: writer, count: count, since: writes.start)
        }
        if writes.wakeCount > 1 {
            causes.append("tasks that sleep on the cloud's clock woke \(writes.wakeCount.grouped) times")
        }
        if isStuck, let delivering {
            causes.append("an observer on \(delivering.label) has not returned")
        }
        let moving = agenda.filter { $0.isUnderWay }.map(\.description)
        return .stillMoving(after: limit, causes: causes, what: Array(Set(moving).sorted().prefix(10)))
    }

    private func cause(of writer: WriteCounts.Writer, count: Int, since start: Date) -> String {
        let programs = machines.flatMap(\.programs)
        let notification = programs.first { $0.label == writer.label }?.notifications.last
        let action = "wrote \"\(writer.key)\" \(count.grouped) times"
        guard let notification, notification.time >= start else {
            return "\(writer.label) \(action)"
        }
        return "the observer of \(Self.list(notification.keys)) on \(writer.label) \(action)"
            + " in answer to \(notification.reason.causeDescription)"
    }

    private static func list(_ keys: [String]) -> String {
        let shown = keys.prefix(3).map { "\"\($0)\"" }.joined(separator: ", ")
        return "\(shown)\(keys.count > 3 ? " and \(keys.count - 3) more" : "")"
    }
}

extension StoreChangeReason {
    /// In the plural.
    fileprivate var causeDescription: String {
        switch self {
        case .serverChange: "changes of other devices"
        case .initialSyncChange: "its first download"
        case .quotaViolationChange: "quota violations"
        case .accountChange: "account changes"
        }
    }
}
