import Foundation

@testable import KVStore

/// A replica with a clock of its own; what it wants done is answered as words, a line for each effect.
struct ReplicaBench {
    var replica: Replica
    var now = Moment(wall: 1_000_000, monotonic: 5_000)

    init(id: UInt64 = 1, limits: StoreLimits = StoreLimits(), notificationKeyCount: Int = 50) {
        replica = Replica(
            id: ReplicaID(rawValue: id), limits: limits,
            notificationKeyCount: notificationKeyCount, seed: id)
    }

    /// A replica whose first download found nothing: epoch "e", cursor 0, nothing under way.
    static func joined(
        id: UInt64 = 1, limits: StoreLimits = StoreLimits(), isLive: Bool = false
    ) -> ReplicaBench {
        var bench = ReplicaBench(id: id, limits: limits)
        _ = bench.handle(.attached(isLive: isLive))
        _ = bench.handle(.synchronize(waiter: 999))
        _ = bench.answer(initial: true)
        return bench
    }

    mutating func pass(milliseconds: Int64) {
        now.wall += milliseconds
        now.monotonic += milliseconds
    }

    mutating func set(_ key: String, _ value: String?) -> [String] {
        let content: Record.Content = value.map { .value(Data($0.utf8)) } ?? .tombstone
        return words(replica.write(content, forKey: key, at: now).effects)
    }

    mutating func handle(_ event: Event) -> [String] { words(replica.handle(event, at: now)) }

    mutating func answer(
        epoch: String = "e", cursor: UInt64 = 0, initial: Bool = false, more: Bool = false,
        _ changes: [SyncChange] = [], rejected: [SyncRejection] = [], ahead: Int64 = 0,
        horizon: UInt64? = nil, lineage: [SyncEpoch]? = nil
    ) -> [String] {
        handle(
            .answered(
                SyncResponse(
                    epoch: epoch, cursor: cursor, serverTime: now.wall + ahead, initial: initial,
                    more: more, changes: changes, rejected: rejected, horizon: horizon,
                    lineage: lineage)))
    }

    var values: [String: String] {
        replica.visibleContents.compactMapValues { content in
            if case .value(let data) = content {
                String(decoding: data, as: UTF8.self)
            } else {
                nil
            }
        }
    }

    var request: SyncRequest? { replica.session.inFlight?.request }

    private func words(_ effects: [Effect]) -> [String] {
        effects.map { effect in
            switch effect {
            case .append(.record(let record, let isPending, let isProvisional)):
                "append \(record.words)"
                    + (isProvisional ? " provisional" : isPending ? " pending" : "")
            case .append(.acknowledged(let key, _)): "acknowledged \(key)"
            case .append(.state(let state)): "state \(state.epoch ?? "none") \(state.cursor)"
            case .send(let request):
                "send \(request.epoch ?? "none") \(request.since)"
                    + request.changes.map { " " + $0.key }.joined()
            case .openStream(let since, let epoch): "open stream \(epoch) \(since)"
            case .closeStream: "close stream"
            case .notify(let change):
                "notify \(change.reason.rawValue) \(change.keys.sorted().joined(separator: " "))"
            case .wake(let moment): "wake in \(moment - now.monotonic)"
            case .finish(let waiter, .synchronized(let report)):
                "finish \(waiter): \(report.sentKeyCount) sent, \(report.receivedKeyCount) received, "
                    + "\(report.pendingKeyCount) pending"
            case .finish(let waiter, .failed(let error)): "finish \(waiter): \(error)"
            }
        }
    }
}

extension Record {
    var words: String {
        switch content {
        case .value(let data): "\(key)=\(String(decoding: data, as: UTF8.self))"
        case .tombstone: "\(key) removed"
        }
    }
}

extension SyncChange {
    /// What another replica wrote, by default in the past.
    static func other(
        _ key: String, _ value: String?, at milliseconds: Int64 = 500_000, seq: UInt64? = nil
    ) -> SyncChange {
        SyncChange(
            Record(
                key: key,
                stamp: Stamp(
                    milliseconds: milliseconds, counter: 0, replica: ReplicaID(rawValue: 99)),
                content: value.map { .value(Data($0.utf8)) } ?? .tombstone), seq: seq)
    }
}
