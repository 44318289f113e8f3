import KVStoreCore
import KVStoreLedger
import KVStoreServer
import KVStoreWire

/// A store as the database had it at a version.
struct StoreRow: Sendable {
    /// The key of its row.
    var id: Int64
    var version: Int64
    var generation: Int64
    /// Whether its account exists and is not under removal.
    var hasAccount: Bool
    /// Whether its account has a limit on bytes.
    var isLimited: Bool
    /// Whether it was removed and not created again.
    var isRemoved: Bool
    /// As the database counts it against the account's limit.
    var memory: Int64
    var hub: Hub
}

/// What the operations of a group do to one store, planned on a version of it and committed if it still has that. Pure.
struct StorePlan {
    /// What became of an operation.
    private enum Outcome {
        case sync(Hub.Plan)
        case write(SequencedRecord)
        case failure(Problem)
        case read
    }

    /// The operations, with the stamps of writes.
    private(set) var operations: [DatabaseOperation]
    /// The state before the accepted records.
    private(set) var state: Hub.State
    private(set) var plan = Hub.Plan()
    private(set) var isRemoval = false
    private(set) var isRevival = false
    /// Tombstones that the store need not keep.
    private(set) var forgotten: [StoreKey] = []
    private(set) var memoryGrowth = 0
    /// Whether the account may become too large.
    private(set) var needsLimit = false
    private var outcomes: [Outcome] = []
    private let hasNewEpoch: Bool
    /// Whether a change is acknowledged that the store already has. A restarted server shows commits that no synchronous
    /// standby has yet; another commit waits until the standby has both.
    private var confirms = false

    /// Whether there is anything to commit.
    var needsCommit: Bool {
        hasNewEpoch || isRemoval || confirms || !plan.accepted.isEmpty || !forgotten.isEmpty
    }

    /// - Parameters:
    ///   - generation: the present one; the row of an earlier one gets a new epoch, as history may be lost.
    ///   - now: milliseconds since 1970.
    ///   - newEpoch: gives the id of another epoch.
    init(
        _ operations: [DatabaseOperation], on row: StoreRow, generation: Int64, now: Int64,
        newEpoch: () -> EpochID
    ) {
        self.operations = operations
        hasNewEpoch = row.generation != generation
        state = row.hub.state
        if hasNewEpoch { state = state.beginning(newEpoch(), breakingEarlierEpochs: true) }
        for (index, given) in operations.enumerated() {
            var operation = given
            outcomes.append(apply(&operation, to: row, now: now, newEpoch))
            self.operations[index] = operation
        }
        isRevival = row.isRemoved && !plan.accepted.isEmpty
        // Its live readers have nothing of what it is from now on.
        if isRevival { state = state.beginning(newEpoch()) }
        memoryGrowth =
            isRemoval ? -Int(row.memory) : Ledger.memoryGrowth(of: plan, in: row.hub)
        needsLimit = row.isLimited && memoryGrowth > 0
        collectTombstones(of: row.hub, now: now)
    }

    private mutating func apply(
        _ operation: inout DatabaseOperation, to row: StoreRow, now: Int64,
        _ newEpoch: () -> EpochID
    ) -> Outcome {
        if !row.hasAccount, operation.creates { return .failure(.unauthorized) }
        switch operation.request {
        case .sync(let message, _, _):
            let (superseded, rejected) = (plan.superseded.count, plan.rejections.count)
            row.hub.extend(&plan, with: message.changes, now: now)
            confirms = confirms || plan.rejections.count - rejected < message.changes.count
            var part = Hub.Plan()
            part.superseded = Array(plan.superseded[superseded...])
            part.rejections = Array(plan.rejections[rejected...])
            return .sync(part)
        case .write(let content, let key, let replica, _):
            return write(
                content, key, &operation.record, replica, isUncertain: operation.isUncertain,
                to: row.hub, now: now)
        case .remove:
            guard !row.isRemoved else {
                guard operation.isUncertain else { return .failure(.unknownStore) }
                confirms = true
                return .read
            }
            isRemoval = true
            state = state.removing(beginning: newEpoch())
            return .read
        case .value, .values, .end, .refresh: return .read
        }
    }

    private mutating func write(
        _ content: Record.Content, _ key: StoreKey, _ stamped: inout Record?, _ replica: ReplicaID,
        isUncertain: Bool, to hub: Hub, now: Int64
    ) -> Outcome {
        let present = entry(of: key, in: hub)
        // A repetition that finds its own record, or a later one, has happened. Another node may have given the same stamp.
        if isUncertain, let stamped, let present,
            present.record.stamp > stamped.stamp || present.record == stamped
        {
            confirms = true
            return .write(present)
        }
        if present?.record.content ?? .tombstone == content {
            guard let present, !content.isTombstone else { return .failure(.unknownKey) }
            confirms = true
            return .write(present)
        }
        let stamp = Stamp.next(after: present?.record.stamp, now: now, replica: replica)
        let record = Record(key: key, stamp: stamp, content: content)
        stamped = record
        let rejected = plan.rejections.count
        hub.extend(&plan, with: [record], now: now)
        if plan.rejections.count > rejected {
            return .failure(Problem(plan.rejections.removeLast().reason))
        }
        return plan.accepted.last.map { .write($0) } ?? .failure(.unknownKey)
    }

    /// The record of a key when what has been planned so far is committed.
    private func entry(of key: StoreKey, in hub: Hub) -> SequencedRecord? {
        guard let record = plan.record(of: key) else { return hub.entries[key] }
        return plan.accepted.last { $0.record.key == key && $0.record.stamp == record.stamp }
    }

    private mutating func collectTombstones(of hub: Hub, now: Int64) {
        guard !isRemoval, hub.tombstoneCount > WireLimits.tombstoneCount + 256 else { return }
        let expired = hub.expiredTombstones(now: now)
            .filter { plan.record(of: $0.record.key) == nil }
        forgotten = expired.map(\.record.key)
        for entry in expired {
            state.horizon = max(state.horizon, entry.sequence)
            memoryGrowth -= Ledger.memoryByteCount(of: entry.record)
        }
    }

    /// The state after the accepted records.
    var committedState: Hub.State {
        var committed = state
        for entry in plan.accepted {
            committed.sequence = max(committed.sequence, entry.sequence)
            committed.clockMilliseconds = max(
                committed.clockMilliseconds, entry.record.stamp.milliseconds)
        }
        return committed
    }

    /// The accepted records without those that others of the same plan replace.
    var records: some Sequence<SequencedRecord> {
        plan.accepted.lazy.filter { isLast($0.record) }
    }

    private func isLast(_ record: Record) -> Bool {
        plan.record(of: record.key)?.stamp == record.stamp
    }

    /// Applies what has been committed to the row that it was planned on.
    func commit(to row: inout StoreRow, generation: Int64) {
        row.version += 1
        row.generation = generation
        row.memory += Int64(memoryGrowth)
        if isRemoval {
            row.isRemoved = true
            row.hub = Hub(state)
            return
        }
        if isRevival { row.isRemoved = false }
        row.hub.load(state)
        row.hub.commit(plan)
        for key in forgotten { row.hub.forget(key) }
    }

    /// What to run on the event loop of each operation, when the row is as committed.
    func completions(on row: StoreRow, now: Int64) -> [(loop: Int, run: () -> Void)] {
        zip(operations, outcomes).map { operation, outcome in
            (operation.loop, completion(of: operation, outcome, on: row, now: now))
        }
    }

    private func completion(
        of operation: DatabaseOperation, _ outcome: Outcome, on row: StoreRow, now: Int64
    ) -> () -> Void {
        if case .failure(let problem) = outcome { return operation.failing(with: problem) }
        switch (operation.request, outcome) {
        case (.sync(let message, _, let complete), .sync(let part)):
            let response = row.hub.answer(message, plan: part, now: now)
            return { complete(.success(response)) }
        case (.write(_, _, _, let complete), .write(let entry)):
            return { complete(.success(entry)) }
        case (.value(let key, let complete), _):
            let entry = row.hub.entries[key].flatMap { $0.record.content.isTombstone ? nil : $0 }
            return { complete(.success(entry)) }
        case (.values(let isIncluded, let complete), _):
            let values = row.isRemoved ? nil : row.hub.values(where: isIncluded)
            return { complete(.success(values)) }
        case (.end(let complete), _):
            let end = row.hub.end
            return { complete(.success(end)) }
        case (.remove(let complete), _): return { complete(.success(())) }
        default: return {}
        }
    }
}
