import KVStore
import ServerTestSupport

extension Hub {
    /// What a daemon does with a request.
    mutating func apply(_ request: SyncRequest, now: Int64 = Samples.now) -> SyncResponse {
        let plan = plan(request.changes, now: now)
        commit(plan)
        return answer(request, plan: plan, now: now)
    }

    /// The winners, as the merge rule alone says them.
    var winners: [String: Record] { entries.mapValues(\.record) }
}
