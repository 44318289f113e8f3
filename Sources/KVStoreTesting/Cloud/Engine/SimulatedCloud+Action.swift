import KVStore

extension SimulatedCloud {
    /// Something that will happen at a moment of virtual time.
    enum Action: Sendable {
        /// A store's own timer: the sync of its log.
        case timer(Program, Life, StoreRuntime.Body)
        /// A process hears that another one has written into its folder.
        case look(Program, Life, StoreRuntime.Body)
        case effect(CloudDriver, Effect)
        case wake(CloudDriver, id: UInt64)
        /// An event that could not be written down is told again.
        case retell(CloudDriver, Event)

        // Messages, at the moment of their arrival.
        case request(CloudDriver, id: UInt64, SyncRequest)
        case answer(CloudDriver, id: UInt64, Result<SyncResponse, SyncTransportError>)
        case openStream(CloudDriver, id: UInt64, since: UInt64, epoch: String)
        case event(CloudDriver, id: UInt64, SyncEvent)

        /// The moment from which on a request counts as lost.
        case timeout(CloudDriver, id: UInt64)
        case streamEnded(CloudDriver, id: UInt64, SyncTransportError?)
    }
}

extension SimulatedCloud.Action {
    /// Whose announcements it may cause.
    var program: Program {
        switch self {
        case .timer(let program, _, _), .look(let program, _, _): program
        case .effect(let driver, _), .wake(let driver, _), .retell(let driver, _),
            .request(let driver, _, _), .answer(let driver, _, _),
            .openStream(let driver, _, _, _), .event(let driver, _, _),
            .timeout(let driver, _), .streamEnded(let driver, _, _):
            driver.program
        }
    }

    var isMessage: Bool {
        switch self {
        case .request, .answer, .openStream, .event: true
        default: false
        }
    }

    /// Whether something will still change by it without anybody's help: a timer that nothing waits for does
    /// not count, nor do the attempts of a device that has no network.
    var isUnderWay: Bool {
        switch self {
        case .timer(_, let life, _), .look(_, let life, _): !life.isOver
        case .effect(let driver, _): !driver.isStopped
        case .retell(let driver, _): !driver.isStopped && driver.program.machine.isReachable
        case .wake(let driver, let id):
            driver.isDue(wake: id) && driver.program.machine.isReachable
        case .timeout(let driver, let id):
            driver.isWaiting(forRequest: id) && driver.program.machine.isReachable
        // A request still reaches the cloud when nobody waits for it any more.
        case .request, .answer: true
        case .openStream(let driver, let id, _, _), .event(let driver, let id, _),
            .streamEnded(let driver, let id, _):
            driver.isReading(stream: id)
        }
    }

    /// What it is, for a person.
    var words: String {
        switch self {
        case .timer: "\(program.label) writes to its disk"
        case .look: "\(program.label) looks at its files"
        case .effect: "\(program.label) is about to act"
        case .wake, .retell: "\(program.label) will try again"
        case .request(_, _, let request):
            "a request of \(program.label) with \(Self.keys(request.changes))"
        case .answer(_, _, .success(let response)):
            "an answer to \(program.label) with \(Self.keys(response.changes))"
        case .answer(_, _, .failure(let error)): "a failure for \(program.label): \(error)"
        case .openStream: "\(program.label) opens its stream"
        case .event(_, _, .change(let change)): "news for \(program.label) of key \(change.key)"
        case .event(_, _, let event): "news for \(program.label): \(event)"
        case .timeout: "\(program.label) waits for an answer that was lost"
        case .streamEnded: "the stream of \(program.label) ends"
        }
    }

    private static func keys(_ changes: [SyncChange]) -> String {
        guard !changes.isEmpty else { return "no keys" }
        let shown = changes.prefix(3).map(\.key).joined(separator: ", ")
        return "\(shown)\(changes.count > 3 ? " and \(changes.count - 3) more" : "")"
    }
}
