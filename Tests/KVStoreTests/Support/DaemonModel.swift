@testable import KVStore

/// A daemon as a dictionary: what the protocol promises and nothing more.
struct DaemonModel {
    private(set) var epoch: String
    private(set) var records: [String: (record: Record, seq: UInt64)] = [:]
    private(set) var seq: UInt64 = 0
    var pageCount = 3
    var clock: Int64 = 0

    init(epoch: String) { self.epoch = epoch }

    /// What comes back from a backup: the same records under a new epoch.
    func restored(epoch: String) -> DaemonModel {
        var copy = self
        copy.epoch = epoch
        return copy
    }

    mutating func answer(_ request: SyncRequest) -> SyncResponse {
        var rejected: [SyncRejection] = []
        var sent: Set<String> = []
        for change in request.changes {
            guard let record = change.record else { continue }
            if record.stamp.milliseconds > clock + WireLimits.futureMilliseconds {
                rejected.append(
                    SyncRejection(
                        key: record.key, reason: SyncRejection.clock, stamp: change.stamp))
                continue
            }
            sent.insert(change.stamp)
            if let present = records[record.key]?.record, !record.supersedes(present) { continue }
            seq += 1
            records[record.key] = (record, seq)
        }
        let initial = request.epoch != epoch || request.since > seq
        let since = initial ? 0 : request.since
        let news = changes(after: since)
        let page = news.prefix(pageCount)
        var changes = page.map { SyncChange($0.record, seq: $0.seq) }
        changes.removeAll { sent.contains($0.stamp) && !initial }
        // A sender whose change has lost is told of the winner, also where its cursor is past it.
        for change in request.changes {
            guard let winner = records[change.key], winner.seq <= since,
                winner.record.stamp.description != change.stamp
            else { continue }
            changes.append(SyncChange(winner.record, seq: winner.seq))
        }
        let more = news.count > page.count
        return SyncResponse(
            epoch: epoch, cursor: more ? page.last!.seq : seq, serverTime: clock,
            initial: initial, more: more, changes: changes, rejected: rejected)
    }

    func changes(after since: UInt64) -> [(record: Record, seq: UInt64)] {
        records.values.filter { $0.seq > since }.sorted { $0.seq < $1.seq }
    }

    var values: [String: Record.Content] {
        records.compactMapValues { $0.record.content.isTombstone ? nil : $0.record.content }
    }
}
