import KVStore
import KVStoreCore
import Synchronization
import KVStoreSimulation

extension SimulatedCloud {
    /// Something that will happen at a point in virtual time.
    enum Action: Sendable {
        /// A process does something with its own files; the text completes "PROGRAM …".
        case local(Program, Life, String, StoreRuntime.Body)
        /// A task that sleeps on `cloud.clock` wakes.
        case wake(Sleeper)
        /// The time of a device's faults may be over.
        case faultsEnd(Machine)
        case execute(Ready, CloudDriver)
        /// Something that happens on the device itself.
        case deliver(Event, CloudDriver)

        // Messages, at the time of their arrival.
        case request(CloudDriver, Ready.Outgoing)
        case openStream(CloudDriver, id: UInt64, since: SyncCursor)
        case message(Event, CloudDriver)
    }
}

extension SimulatedCloud.Action {
    /// The program that may notify its observers.
    var program: Program? {
        switch self {
        case .wake, .faultsEnd: nil
        case .local(let program, _, _, _): program
        case .execute(_, let driver), .deliver(_, let driver), .request(let driver, _),
            .openStream(let driver, _, _), .message(_, let driver):
            driver.program
        }
    }

    var isMessage: Bool {
        switch self {
        case .request, .openStream, .message: true
        case .local, .wake, .faultsEnd, .execute, .deliver: false
        }
    }

    func isStreamEvent(for driver: CloudDriver) -> Bool {
        if case .message(.stream, let other) = self { other === driver } else { false }
    }

    var isWake: Bool { if case .wake = self { true } else { false } }

    /// Whether it will still change something by itself. A timer that nothing waits for does not count, nor do the
    /// attempts of a device without a network.
    var isUnderWay: Bool {
        switch self {
        case .local(_, let life, _, _): !life.isOver
        case .wake(let sleeper): sleeper.isAsleep
        // What waits for the end will then go on.
        case .faultsEnd(let machine): machine.network.withLock { $0.awaitsEnd }
        case .execute(_, let driver): !driver.isStopped
        case .deliver(.streamEnded(let id, let error), let driver): driver.awaits(.streamEnded(id: id, error))
        case .deliver(let event, let driver): driver.awaits(event) && driver.program.machine.isReachable
        // A request reaches the cloud even if nothing waits for its answer any more.
        case .request, .message(.answered, _): true
        case .openStream(let driver, let id, _): driver.awaits(.stream(id: id, .opened))
        case .message(let event, let driver): driver.awaits(event)
        }
    }

    var description: String {
        let label = program?.label ?? ""
        return switch self {
        case .wake: "a task sleeps on the cloud's clock"
        case .faultsEnd(let machine): "\(machine.name) has faults that end later"
        case .local(_, _, let activity, _): "\(label) \(activity)"
        case .execute: "\(label) is about to act"
        case .deliver(.answered, _): "\(label) waits for an answer that was lost"
        case .deliver(.streamEnded, _): "the stream of \(label) ends"
        case .deliver: "\(label) will try again"
        case .request(_, let outgoing): "a request of \(label) with \(Self.list(outgoing.request.changes.map(\.key)))"
        case .message(.answered(_, .success(let response)), _):
            "an answer to \(label) with \(Self.list(response.changes.map(\.record.key)))"
        case .message(.answered(_, .failure(let error)), _): "a failure for \(label): \(error)"
        case .message(.stream(_, .changes(let changes)), _):
            (changes.count == 1 ? "a change for \(label) of key " : "changes for \(label) of keys ")
                + Self.list(changes.map(\.record.key))
        case .message(.stream(_, let event), _): "an event for \(label): \(event)"
        case .message: "an event for \(label)"
        case .openStream: "\(label) opens its stream"
        }
    }

    private static func list(_ keys: [StoreKey]) -> String {
        guard !keys.isEmpty else { return "no keys" }
        let shown = keys.prefix(3).map(\.text).joined(separator: ", ")
        return "\(shown)\(keys.count > 3 ? " and \(keys.count - 3) more" : "")"
    }
}
