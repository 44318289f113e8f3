import Foundation
import KVStore
import KVStoreCore
import KVStoreLedger
import KVStoreSimulation
import Synchronization

extension SimulatedCloud {
    /// The world of its events.
    private static let world = "cloud"
    /// Bytes of a value in a decision; longer ones are summarized.
    private static let valueByteCount = 1_024

    /// Runs a test again that has written a record: with the seed and the strictness of the record, and compared with
    /// it line by line.
    ///
    /// ```swift
    /// let cloud = try SimulatedCloud(replaying: path)
    /// ```
    ///
    /// The next `settle` or `run` throws `CloudError.differsFromRecord` at the first difference: there the code under
    /// test has done something else than in the recorded run. A difference that no call throws is reported on standard
    /// error.
    ///
    /// - Parameters:
    ///   - path: the record. It is read as the test proceeds.
    ///   - record: the path of a file for the record of this run; nil for none.
    /// - Throws: `CloudError.recordFailed` if the file cannot be read, or is not the record of a simulated cloud.
    public convenience init(replaying path: String, record: String? = nil) throws(CloudError) {
        let lines = RecordedLines(path)
        let start = try lines.start(writing: record)
        self.init(start, CloudRecorder(start, path: record, comparedWith: lines))
    }

    /// Adds an event to the record, if there is one.
    func record(_ event: String, of device: String? = nil, _ complete: (inout EventDocument) -> Void = { _ in }) {
        guard let recorder else { return }
        var document = EventDocument(event, world: Self.world, time: virtualClock.wall)
        document.device = device
        complete(&document)
        if Responses.current?.append(document) != true { recorder.append(document) }
    }

    /// - Parameter content: nil for a write that failed.
    func recordWrite(of key: StoreKey, _ content: StoreRecord.Content?, by program: Program) {
        guard let content else { return }
        record("write", of: program.label) { event in
            (event.store, event.key) = (program.run?.store.configuration.storeName, key)
            event.set(content)
        }
    }

    func record(_ notification: CloudNotification, of program: Program) {
        record("notification", of: program.label) { event in
            event.store = program.run?.store.configuration.storeName
            event.reason = notification.reason.rawValue
            event.keys = notification.keys.map { StoreKey($0) }
        }
    }

    func record(_ decision: Decision<StoreRecord>, as made: CloudDecision, in store: StoreID) {
        var device: String?
        if case .device(let name) = made.place { device = name }
        record("decision", of: device) { event in
            event.set(store)
            event.key = decision.key
            func version(_ record: StoreRecord?, _ made: CloudDecision.Version?) -> KeptVersion? {
                record.map {
                    KeptVersion($0, writer: made?.writer ?? "", byteLimit: Self.valueByteCount)
                }
            }
            event.decision = DecisionDocument(
                Decision(
                    decision.key, incoming: version(decision.incoming, made.incoming),
                    present: version(decision.present, made.present), winner: decision.winner, reason: decision.reason),
                text: made.description)
        }
    }

    /// Records what the cloud has accepted of a request, and what it exchanged.
    func recordSync(
        _ request: SyncRequest, _ response: SyncResponse, of driver: CloudDriver, before: [StoreKey: StoreRecord]
    ) {
        guard recorder != nil else { return }
        let store = driver.storeID
        let accepted = hub.withLock { hub in
            request.changes.compactMap { change -> SequencedRecord? in
                guard let entry = hub.ledger.hub(store)?.entries[change.key],
                    entry.record == change, before[change.key] != change
                else { return nil }
                return entry
            }
        }
        for entry in accepted {
            record("change", of: driver.program.label) { event in
                event.set(store)
                event.set(entry)
            }
        }
        record("sync", of: driver.program.label) { event in
            event.set(store)
            event.sent = request.changes.map(\.key)
            event.received = response.changes.map(\.record.key)
            event.rejected = response.rejections.map(\.key)
        }
    }

    /// - Parameter event: `connected` or `disconnected`.
    func record(_ event: String, _ stream: CloudHub.Stream) {
        record(event, of: stream.driver.program.label) { $0.set(stream.driver.storeID) }
    }

    func record(_ outcome: FaultOutcome, of message: NetworkFault.Message, on machine: Machine) {
        record("fault", of: machine.name) { $0.set(message, outcome) }
    }
}

extension EventDocument {
    fileprivate mutating func set(_ id: StoreID) {
        (store, account) = (id.name, .some(id.account))
    }
}
