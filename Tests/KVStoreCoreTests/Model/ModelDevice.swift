@testable import KVStoreCore

/// One device of the model: a replica, what is under way to and from the daemon, and what its user is promised.
struct ModelDevice {
    enum Flight: Equatable {
        case none
        case request(Ready.Outgoing)
        /// A node has it.
        case received(id: UInt64)
        case answer(id: UInt64, SyncResponse)
    }

    enum Stream: Equatable {
        case none
        case requested(id: UInt64, since: SyncCursor)
        /// The daemon has sent everything up to `position`, which is nil after a reset; `queue` is still to arrive.
        case open(id: UInt64, position: UInt64?, queue: [SyncEvent])
    }

    let number: Int
    var replica: Replica
    /// The replica as a program that starts now would find it; nil if no crashes are left.
    var disk: Replica?
    var flight = Flight.none
    var stream = Stream.none
    /// The node that serves the stream.
    var streamNode = 0
    /// Ghost, by key: the last write after the first download, until the daemon has had it or a greater one.
    var owed: [StoreRecord?] = [nil, nil]
    /// Ghost, by key: the last content written before the first download, while it exists anywhere.
    var provisional: [StoreRecord.Content?] = [nil, nil]
    /// Ghost: the sequence number at which the first download was complete.
    var firstSequence: UInt64?

    /// Whether the device has been connected: before that nothing is written and nothing goes wrong.
    var isSetUp: Bool { replica.session.phase != .detached }

    /// By key, what an app sees.
    var contents: [StoreRecord.Content?] {
        ModelWorld.keys.map { replica.table.content(forKey: $0) }
    }

    /// The replica as the log holds it.
    private var logged: Replica { disk ?? replica }

    mutating func append(_ entry: ReplicaEntry) throws(ModelViolation) {
        _ = disk?.replay(entry)
        // What was written before the first download is owed once the download is known to be complete.
        guard logged.state.initialSyncCompleted else { return }
        if case .state = entry {
            for (key, name) in ModelWorld.keys.enumerated() {
                if let entry = logged.table[name], entry.status == .pending {
                    owed[key] = entry.record
                }
            }
        }
        guard case .record(let entry) = entry, entry.status == .pending else { return }
        let record = entry.record
        let key = ModelWorld.keyIndex(record.key)
        if let former = owed[key], !ModelWorld.isGreater(record, former), record.content != former.content {
            throw ModelViolation(
                promise: "a device's later write of a key has the greater stamp",
                detail: "d\(number) \(record.key) \(record.stamp) after \(former.stamp)")
        }
        owed[key] = record
    }

    /// Waits, their random part and the counts of reports do not influence any decision, so states that
    /// differ only in them are one state. A new replica id follows from the present one.
    mutating func forgetTiming() {
        replica.random = SplitMix64(seed: replica.id.rawValue)
        replica.session.failures.backoff = Backoff()
        replica.session.failures.last = nil
        replica.session.counts = SyncSession.Counts()
        if replica.session.backOffTime != nil { replica.session.backOff(until: 0) }
    }
}

extension ModelDevice: ReadyExecutor {
    typealias Failure = ModelViolation

    mutating func execute(_ ready: Ready) throws(ModelViolation) {
        for entry in ready.entries { try append(entry) }
        try ready.execute(on: &self)
    }

    func notify(_ change: StoreChange) {}

    mutating func closeStream() { stream = .none }

    mutating func openStream(id: UInt64, since: SyncCursor) throws(ModelViolation) {
        guard stream == .none else {
            throw ModelViolation(promise: "one stream at a time", detail: "d\(number)")
        }
        stream = .requested(id: id, since: since)
    }

    mutating func send(
        _ outgoing: Ready.Outgoing, mustSync: Bool
    ) throws(ModelViolation) {
        guard flight == .none else {
            throw ModelViolation(promise: "one request at a time", detail: "d\(number)")
        }
        let changes = outgoing.request.changes
        guard mustSync || changes.isEmpty else {
            throw ModelViolation(promise: "nothing is sent before it is durable", detail: "d\(number)")
        }
        if !logged.state.initialSyncCompleted, !changes.isEmpty {
            throw ModelViolation(promise: "nothing is sent before the first download is complete", detail: "d\(number)")
        }
        for change in changes {
            guard let entry = logged.table[change.key], entry.status == .pending, change == entry.record else {
                throw ModelViolation(
                    promise: "what is sent is in the log, pending and as it was written",
                    detail: "d\(number) \(change.key) \(change.stamp)")
            }
        }
        flight = .request(outgoing)
    }

    func wake(at milliseconds: Int64) {}

    func complete(_ completion: Ready.Completion) {}
}
