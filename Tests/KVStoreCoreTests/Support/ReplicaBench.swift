import Foundation
import StoreTestSupport

@testable import KVStoreCore

/// A replica with a clock of its own. Every call returns a transcript of the `Ready`: a line for each entry,
/// then one for each thing to do.
struct ReplicaBench {
    var replica: Replica
    var now = Instant(wall: 1_000_000, monotonic: 5_000)
    /// The ids that the replica issued last.
    private(set) var requestID: UInt64 = 0
    private(set) var streamID: UInt64 = 0
    /// Waiters in the order of their calls, which transcripts number from 1.
    private var waiters: [UInt64] = []

    init(id: UInt64 = 1, limits: StoreLimits = StoreLimits(), notificationKeyCount: Int = 50) {
        replica = Replica(
            id: ReplicaID(rawValue: id), limits: limits, notificationKeyCount: notificationKeyCount, seed: id)
    }

    /// A replica whose first download found nothing: epoch "e", cursor 0, no request under way.
    static func joined(id: UInt64 = 1, limits: StoreLimits = StoreLimits(), isLive: Bool = false) -> ReplicaBench {
        var bench = ReplicaBench(id: id, limits: limits)
        _ = bench.handle(.attached(isLive: isLive))
        if !isLive { _ = bench.synchronize() }
        _ = bench.answer(isInitial: true)
        bench.waiters = []
        return bench
    }

    mutating func advance(milliseconds: Int64) {
        now.wall += milliseconds
        now.monotonic += milliseconds
    }

    // MARK: - Calls

    mutating func set(_ key: StoreKey, _ value: String?) -> [String] {
        set([key: value])
    }

    mutating func set(_ values: [StoreKey: String?]) -> [String] {
        let contents = values.mapValues { $0.map { StoreRecord.Content.value(Data($0.utf8)) } ?? .tombstone }
        return transcript(replica.write(contents, at: now).ready)
    }

    mutating func synchronize(onlySends: Bool = false) -> [String] {
        let (ready, waiter) = replica.synchronize(at: now, onlySends: onlySends)
        waiters.append(waiter)
        return transcript(ready)
    }

    mutating func handle(_ event: Event) -> [String] { transcript(replica.handle(event, at: now)) }

    /// Answers the last request. By default the daemon has one epoch, and may have forgotten any removal.
    mutating func answer(
        epoch: EpochID = "e", cursor: UInt64 = 0, isInitial: Bool = false, hasMore: Bool = false,
        _ changes: [SequencedRecord] = [], rejections: [SyncRejection] = [], ahead: Int64 = 0,
        horizon: UInt64 = .max, lineage: [SyncCursor]? = nil
    ) -> [String] {
        let present = [SyncCursor(epoch: epoch, sequence: .max)]
        return handle(
            .answered(
                id: requestID,
                .success(
                    SyncResponse(
                        cursor: SyncCursor(epoch: epoch, sequence: cursor), serverTime: now.wall + ahead,
                        isInitial: isInitial, hasMore: hasMore, changes: changes, rejections: rejections,
                        horizon: horizon, lineage: isInitial ? lineage ?? present : []))))
    }

    /// Fails the last request.
    mutating func fail(_ error: SyncTransportError) -> [String] {
        handle(.answered(id: requestID, .failure(error)))
    }

    /// Delivers an event of the last stream.
    mutating func receive(_ event: SyncEvent) -> [String] {
        handle(.stream(id: streamID, event))
    }

    /// Ends the last stream.
    mutating func endStream(_ error: SyncTransportError? = nil) -> [String] {
        handle(.streamEnded(id: streamID, error))
    }

    // MARK: - State

    var values: [StoreKey: String] {
        replica.visibleContents.compactMapValues { content in
            if case .value(let data) = content {
                String(decoding: data, as: UTF8.self)
            } else {
                nil
            }
        }
    }

    /// Sorted by key.
    var records: [StoreRecord] {
        replica.table.entries.values.map(\.record).sorted { $0.key < $1.key }
    }

    var pendingKeys: Set<StoreKey> { replica.table.pendingKeys }

    /// The request under way.
    var request: SyncRequest? { replica.session.exchange?.request }

    /// The rejection of every change of the request under way.
    func rejections(_ reason: SyncRejection.Reason) -> [SyncRejection] {
        (request?.changes ?? []).map { SyncRejection($0, reason) }
    }

    /// The rejection of every change of the request under way as too far ahead of the daemon's clock.
    func clockRejections(ahead: Int64 = 0) -> [SyncRejection] {
        rejections(.clock(limit: now.wall + ahead + WireLimits.futureMilliseconds, present: nil))
    }

    // MARK: - Transcript

    private mutating func transcript(_ ready: Ready) -> [String] {
        var transcript = Transcript(lines: ready.entries.map(\.text), now: now, waiters: waiters)
        ready.execute(on: &transcript)
        if let request = ready.request { requestID = request.id }
        if case .open(let id, _) = ready.stream { streamID = id }
        return transcript.lines
    }
}

private struct Transcript: ReadyExecutor {
    var lines: [String]
    let now: Instant
    let waiters: [UInt64]

    mutating func notify(_ change: StoreChange) {
        lines.append("notify \(change.reason.rawValue) \(change.keys.sorted().joined(separator: " "))")
    }

    mutating func closeStream() { lines.append("close stream") }

    mutating func openStream(id: UInt64, since: SyncCursor) {
        lines.append("open stream \(since.text)")
    }

    mutating func send(_ outgoing: Ready.Outgoing, mustSync: Bool) {
        let request = outgoing.request
        let keys = request.changes.map { " \($0.key)" }.joined()
        lines.append("send \(request.since?.text ?? "none")\(keys)")
    }

    mutating func wake(at milliseconds: Int64) {
        lines.append("wake in \(milliseconds - now.monotonic)")
    }

    mutating func complete(_ completion: Ready.Completion) {
        let waiter = waiters.firstIndex(of: completion.waiter).map { "\($0 + 1)" } ?? "unknown"
        switch completion.outcome {
        case .success(let report):
            lines.append(
                "finish \(waiter): \(report.sentKeyCount) sent, \(report.receivedKeyCount) received, "
                    + "\(report.pendingKeyCount) pending" + (report.refusal.map { ", \($0)" } ?? ""))
        case .failure(let error): lines.append("finish \(waiter): \(error)")
        }
    }
}

extension ReplicaEntry {
    fileprivate var text: String {
        switch self {
        case .record(let entry):
            switch entry.status {
            case .acknowledged: "append \(entry.record.text)"
            case .pending: "append \(entry.record.text) pending"
            case .provisional: "append \(entry.record.text) provisional"
            }
        case .acknowledged(let key, _): "acknowledged \(key)"
        case .state(let state): "state \(state.cursor?.text ?? "none")"
        }
    }
}

extension StoreRecord {
    fileprivate var text: String {
        switch content {
        case .value(let data): "\(key)=\(String(decoding: data, as: UTF8.self))"
        case .tombstone: "\(key) removed"
        }
    }
}

extension SyncCursor {
    fileprivate var text: String { "\(epoch.name) \(sequence)" }
}
