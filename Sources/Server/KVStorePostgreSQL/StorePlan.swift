import KVStoreCore
import KVStoreLedger
import KVStoreLog
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

/// Why the database has not changed a store, although it had the version that was planned on.
enum StoreRefusal: Equatable {
    /// - Parameter room: bytes by which the stores of the account may grow; below 0 beyond a limit that was lowered.
    case accountFull(room: Int64, limit: Int)
    case tooManyStores(limit: Int)
    case accountGone
    /// What needs no commit goes on.
    case diskFull

    var problem: Problem {
        switch self {
        case .accountFull(_, let limit): Problem(.accountFull(limit: limit))
        case .tooManyStores(let limit): .tooManyStores(limit: limit)
        case .accountGone: .unauthorized
        case .diskFull: .databaseFull
        }
    }

    /// The refusal of a second plan: it leaves out all that may be in the way, as other nodes take the room meanwhile.
    var final: StoreRefusal {
        guard case .accountFull(let room, let limit) = self else { return self }
        return .accountFull(room: min(0, room), limit: limit)
    }
}

/// What the operations of a group do to one store, planned on a version of it and committed if it still has that. Pure.
struct StorePlan {
    /// What became of an operation.
    enum Outcome {
        case sync(Hub.Plan)
        case write(SequencedRecord)
        case failure(Problem)
        case read
    }

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
    private var hasNewEpoch: Bool
    /// Whether a change is acknowledged that the store already has. A restarted server shows commits that no
    /// synchronous standby has yet; another commit waits until the standby has both.
    private var confirms = false

    /// Whether there is anything to commit.
    var needsCommit: Bool {
        hasNewEpoch || isRemoval || confirms || !plan.accepted.isEmpty || !forgotten.isEmpty
    }

    /// - Parameters:
    ///   - generation: the present one; the row of an earlier one gets a new epoch, as history may be lost.
    ///   - now: milliseconds since 1970.
    ///   - newEpoch: gives the id of another epoch.
    ///   - refusal: of the former plan: what was in the way is refused, and the rest is planned.
    init(
        _ operations: [DatabaseOperation], on row: StoreRow, generation: Int64, now: Int64,
        refusal: StoreRefusal? = nil, newEpoch: () -> EpochID
    ) {
        self.operations = operations
        hasNewEpoch = row.generation != generation
        state = row.hub.state
        if hasNewEpoch { state = state.beginning(newEpoch(), breakingEarlierEpochs: true) }
        for operation in operations {
            let former = refusal == nil ? nil : self
            var outcome = apply(operation, to: row, now: now, newEpoch)
            if let refusal, let former, refuses(refusal, since: former, operation, row) {
                self = former
                outcome = .failure(refusal.problem)
            }
            outcomes.append(outcome)
        }
        isRevival = row.isRemoved && !plan.accepted.isEmpty
        // Its live readers have nothing of what it is from now on.
        if isRevival { state = state.beginning(newEpoch()) }
        memoryGrowth = isRemoval ? -Int(row.memory) : Ledger.memoryGrowth(of: plan, in: row.hub)
        needsLimit = row.isLimited && memoryGrowth > 0
        if refusal != .diskFull { collectTombstones(of: row.hub, now: now) }
    }

    /// Whether the last operation asks for what was refused.
    private func refuses(
        _ refusal: StoreRefusal, since former: StorePlan, _ operation: DatabaseOperation, _ row: StoreRow
    ) -> Bool {
        switch refusal {
        case .accountFull(let room, _):
            let growth = Ledger.memoryGrowth(of: plan, in: row.hub)
            return growth > Ledger.memoryGrowth(of: former.plan, in: row.hub) && growth > max(0, room)
        case .tooManyStores: return row.isRemoved && !plan.accepted.isEmpty
        case .accountGone: return operation.creates
        case .diskFull: return needsCommit
        }
    }

    private mutating func apply(
        _ operation: DatabaseOperation, to row: StoreRow, now: Int64, _ newEpoch: () -> EpochID
    ) -> Outcome {
        if let committed = operation.committed {
            confirms = true
            return committed.outcome
        }
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
        case .write(let content, let key, let precondition, let replica, _):
            return write(content, key, if: precondition, replica, to: row.hub, now: now)
        case .remove:
            guard !row.isRemoved else { return .failure(.unknownStore) }
            isRemoval = true
            state = state.removing(beginning: newEpoch())
            return .read
        case .value, .values, .end, .refresh: return .read
        }
    }

    private mutating func write(
        _ content: StoreRecord.Content, _ key: StoreKey, if precondition: Precondition, _ replica: ReplicaID,
        to hub: Hub,
        now: Int64
    ) -> Outcome {
        let present = entry(of: key, in: hub)
        do throws(Problem) { try precondition.check(present, writing: content) } catch { return .failure(error) }
        if present?.record.content ?? .tombstone == content {
            guard let present, !content.isTombstone else { return .failure(.unknownKey) }
            confirms = true
            return .write(present)
        }
        let stamp = StoreStamp.next(after: present?.record.stamp, now: now, replica: replica)
        let record = StoreRecord(key: key, stamp: stamp, content: content)
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
        let expired = hub.expiredTombstones(now: now).filter { plan.record(of: $0.record.key) == nil }
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
            committed.clockMilliseconds = max(committed.clockMilliseconds, entry.record.stamp.milliseconds)
        }
        return committed
    }

    /// The accepted records without those that others of the same plan replace.
    var records: some Sequence<SequencedRecord> {
        plan.accepted.lazy.filter { isLast($0.record) }
    }

    private func isLast(_ record: StoreRecord) -> Bool {
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

    /// The operations when the answer to the commit was lost.
    ///
    /// - Parameter ordinal: of the store in the group.
    func uncertainOperations(at place: AnswerPlace, ordinal: Int) -> [DatabaseOperation] {
        zip(operations, outcomes).map { operation, outcome in
            var operation = operation
            if operation.committed == nil, depends(operation, outcome) {
                operation.attempts.append(DatabaseOperation.Attempt(place: place, ordinal: ordinal, outcome: outcome))
            }
            return operation
        }
    }

    /// Whether nothing of an operation happens without the commit.
    private func depends(_ operation: DatabaseOperation, _ outcome: Outcome) -> Bool {
        switch outcome {
        case .failure: false
        case .sync, .read: !operation.isRead
        case .write(let entry): plan.accepted.contains { $0.sequence == entry.sequence }
        }
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
        case (.write(_, _, _, _, let complete), .write(let entry)):
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
