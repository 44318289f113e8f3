import KVStore
import KVStoreCore
import KVStoreSimulation

extension SimulatedCloud {
    /// Something that will happen at a point in virtual time.
    enum Action: Sendable {
        /// A process does something with its own files; the text completes "PROGRAM …".
        case local(Program, Life, String, StoreRuntime.Body)
        case execute(Ready, CloudDriver)
        /// Something that happens on the device itself.
        case deliver(Event, CloudDriver)

        // Messages, at the time of their arrival.
        case request(CloudDriver, Ready.Outgoing)
        case openStream(CloudDriver, id: UInt64, since: Cursor)
        case message(Event, CloudDriver)
    }
}

extension SimulatedCloud.Action {
    /// The program that may notify its observers.
    var program: Program {
        switch self {
        case .local(let program, _, _, _): program
        case .execute(_, let driver), .deliver(_, let driver), .request(let driver, _),
            .openStream(let driver, _, _), .message(_, let driver):
            driver.program
        }
    }

    var isMessage: Bool {
        switch self {
        case .request, .openStream, .message: true
        case .local, .execute, .deliver: false
        }
    }

    /// Whether it will still change something by itself. A timer that nothing waits for does not count, nor do the
    /// attempts of a device without a network.
    var isUnderWay: Bool {
        switch self {
        case .local(_, let life, _, _): !life.isOver
        case .execute(_, let driver): !driver.isStopped
        case .deliver(.streamEnded(let id, let error), let driver):
            driver.awaits(.streamEnded(id: id, error))
        case .deliver(let event, let driver):
            driver.awaits(event) && driver.program.machine.isReachable
        // A request reaches the cloud even if nothing waits for its answer any more.
        case .request, .message(.answered, _): true
        case .openStream(let driver, let id, _): driver.awaits(.stream(id: id, .opened))
        case .message(let event, let driver): driver.awaits(event)
        }
    }

    var description: String {
        switch self {
        case .local(_, _, let activity, _): "\(program.label) \(activity)"
        case .execute: "\(program.label) is about to act"
        case .deliver(.answered, _): "\(program.label) waits for an answer that was lost"
        case .deliver(.streamEnded, _): "the stream of \(program.label) ends"
        case .deliver: "\(program.label) will try again"
        case .request(_, let outgoing):
            "a request of \(program.label) with \(Self.list(outgoing.request.changes.map(\.key)))"
        case .message(.answered(_, .success(let response)), _):
            "an answer to \(program.label) with \(Self.list(response.changes.map(\.record.key)))"
        case .message(.answered(_, .failure(let error)), _):
            "a failure for \(program.label): \(error)"
        case .message(.stream(_, .change(let change)), _):
            "a change for \(program.label) of key \(change.record.key)"
        case .message(.stream(_, let event), _): "an event for \(program.label): \(event)"
        case .message: "an event for \(program.label)"
        case .openStream: "\(program.label) opens its stream"
        }
    }

    private static func list(_ keys: [StoreKey]) -> String {
        guard !keys.isEmpty else { return "no keys" }
        let shown = keys.prefix(3).map(\.text).joined(separator: ", ")
        return "\(shown)\(keys.count > 3 ? " and \(keys.count - 3) more" : "")"
    }
}
