import Foundation

/// A replica together with the log that remembers it. Not safe for threads: one owner calls it.
///
/// Every change runs in `transact`: under the lock of all processes, after others' entries have been
/// replayed, and appended before its effects are handed out. So what is sent or told, a process that is killed
/// would know again.
package final class DurableReplica {
    package private(set) var replica: Replica
    package let recovery: LogRecovery
    private let log: SegmentedLog
    /// Whether the log already holds the replica's state.
    private var isIdentified = false
    /// The torn write at the log's end may have been whole once, and known to others. It stays until a new id is on
    /// disk: whoever opens the log before that needs one too.
    private var needsNewID = false
    /// An entry of a newer program: it must not be lost, so nothing is written from then on.
    private var unreadable: LogDamage?
    /// Keys whose change nobody has been told of: other processes', and own ones of a write that could not be undone.
    private var changed: [String] = []
    /// Whether others have appended since a round was last begun for it.
    private var hasNews = false
    /// Whether memory may hold what the log does not.
    package private(set) var isStale = false
    private var random: SplitMix64

    package struct Options: Sendable {
        package var limits = StoreLimits()
        package var notificationKeyCount = 50
        package var page = WireLimits.page
        package var segmentByteCount = 1_048_576
        /// Segments from which on the log is written anew.
        package var compactionSegmentCount = 3

        package init() {}
    }

    private let options: Options

    /// Opens the log in `storage`. Damage is set aside and reported in `recovery`; the replica then starts over
    /// with its next round trip.
    package init(
        storage: any LogStorage, options: Options, seed: UInt64
    ) throws(LogError) {
        var random = SplitMix64(seed: seed)
        var replica = Replica(
            id: ReplicaID(rawValue: random.next()), limits: options.limits,
            notificationKeyCount: options.notificationKeyCount, page: options.page,
            seed: random.next())
        _ = replica.settle(in: storage.identity, newID: replica.id)
        log = SegmentedLog(
            storage: storage,
            options: SegmentedLog.Options(
                segmentByteCount: options.segmentByteCount, isShared: true,
                newLogID: random.next(), salvages: true))
        var isIdentified = false
        var unknown: LogDamage?
        recovery = try log.open { frame in
            guard let entries = ReplicaEntry.entries(in: frame) else {
                unknown = unknown ?? Self.unreadable(frame, in: storage)
                return
            }
            for entry in entries {
                if case .state = entry { isIdentified = true }
                _ = replica.replay(entry)
            }
        }
        if let unknown { throw .damaged(unknown) }
        self.replica = replica
        self.random = random
        self.isIdentified = isIdentified
        self.options = options
        if !recovery.damage.isEmpty {
            try startOver()
        } else if recovery.tornTail != nil {
            needsNewID = true
            // Where this fails the next change begins with it; reading goes on.
            try? exclusively(renewIfDue)
        }
    }

    /// Runs a change as the only one of all processes. The effects hold no `append`: that is done.
    ///
    /// When it throws, memory is what the log says, and none of the effects may be carried out. What others
    /// have changed is told with the next call that does not throw, and so is the change itself where it stands in the
    /// log although the write has failed.
    package func transact(
        at now: Moment, _ body: (inout Replica, Moment) -> [Effect]
    ) throws(LogError) -> [Effect] {
        var effects: [Effect] = []
        try exclusively { () throws(LogError) in
            if isStale { try restore(replica.session) }
            var obstacle: LogError?
            do throws(LogError) { try renewIfDue() } catch { obstacle = error }
            let session = replica.session
            do throws(LogError) {
                let newID = ReplicaID(rawValue: random.next())
                let isNew = replica.settle(in: log.storage.identity, newID: newID)
                let first = isNew || !isIdentified ? replica.currentState : nil
                effects = body(&replica, now)
                if let obstacle, !effects.allSatisfy(\.isOutward) { throw obstacle }
                try append(effects, behind: first)
            } catch {
                let keys = effects.compactMap(\.recordKey)
                do throws(LogError) {
                    try restore(session)
                } catch {
                    // Memory is ahead of the log until that works; then these keys are told as the log has them.
                    changed += keys
                    throw error
                }
                throw error
            }
        }
        return othersChanges() + effects.filter(\.isOutward)
    }

    /// Runs `body` as the only one of all processes, when others' entries have been replayed.
    private func exclusively(_ body: () throws(LogError) -> Void) throws(LogError) {
        try log.exclusively(visit: takeIn) { () throws(LogError) in
            if let unreadable { throw .damaged(unreadable) }
            try body()
        }
    }

    private func renewIfDue() throws(LogError) {
        guard needsNewID else { return }
        var renewed = replica.renewed(ReplicaID(rawValue: random.next()))
        // No key is written before a first state: what is torn was once whole.
        if !isIdentified { renewed.forgetProgress(isStateLost: true) }
        try writeAnew(renewed)
        needsNewID = false
    }

    private func writeAnew(_ replica: Replica) throws(LogError) {
        try log.rewrite(replica.entries.map(\.payload))
        self.replica = replica
        isIdentified = true
    }

    /// Takes in what other processes have appended.
    package func catchUp(at now: Moment) throws(LogError) -> [Effect] {
        try log.catchUp(isLocked: false, visit: takeIn)
        if let unreadable { throw .damaged(unreadable) }
        if isStale {
            try exclusively { () throws(LogError) in try restore(replica.session) }
        }
        defer { hasNews = false }
        return othersChanges() + (hasNews ? replica.startRound(at: now) : [])
    }

    /// Blocks until everything written before the call is on disk.
    package func sync() throws(LogError) { try log.sync() }

    package func prepareSync() throws(LogError) -> SegmentedLog.PendingSync? {
        try log.prepareSync()
    }

    package func finish(
        _ sync: SegmentedLog.PendingSync, failure: StorageFailure?
    ) throws(LogError) {
        try log.finish(sync, failure: failure)
    }

    package func close() throws(LogError) { try log.close() }

    /// Replays another process's entry at once: the log does not show it a second time, whatever fails next.
    private func takeIn(_ frame: LogFrame) {
        guard unreadable == nil, let entries = ReplicaEntry.entries(in: frame) else {
            unreadable = unreadable ?? Self.unreadable(frame, in: log.storage)
            return
        }
        hasNews = true
        for entry in entries {
            if case .state = entry { isIdentified = true }
            if let key = replica.replay(entry) { changed.append(key) }
        }
    }

    private func othersChanges() -> [Effect] {
        guard !changed.isEmpty else { return [] }
        defer { changed = [] }
        var known: Set<String> = []
        return replica.notifications(.serverChange, changed.filter { known.insert($0).inserted })
    }

    /// All in one frame: a torn write keeps all of them or none, so what an answer brings never stands in the log
    /// without the cursor that covers it, nor a cursor without what it covers.
    private func append(_ effects: [Effect], behind first: ReplicaState?) throws(LogError) {
        var entries: [ReplicaEntry] = []
        for case .append(let entry) in effects { entries.append(entry) }
        if let first, !entries.isEmpty { entries.insert(.state(first), at: 0) }
        guard let payload = ReplicaEntry.payload(of: entries) else { return }
        try log.append([payload])
        isIdentified = true
        if log.segments.count >= options.compactionSegmentCount {
            // Where this fails (a full disk) the entries stand in the log all the same, so the change has
            // been made; the next append tries again.
            try? writeAnew(replica)
        }
    }

    /// Brings memory back to what the log says, and the connection to what it was, after an append that
    /// failed. Where reading fails too, the next change begins with it.
    private func restore(_ session: SyncSession) throws(LogError) {
        isStale = true
        replica.session = session
        var restored = replica.emptied()
        try log.visitAll { frame in
            for entry in ReplicaEntry.entries(in: frame) ?? [] { _ = restored.replay(entry) }
        }
        replica = restored
        isStale = false
    }

    /// After damage: keeps every whole entry in a new segment, takes a new id and forgets the cursor, so that the
    /// next round trip brings back what was lost and sends what the daemon may lack.
    private func startOver() throws(LogError) {
        try exclusively { () throws(LogError) in
            replica.forgetProgress(isStateLost: !isIdentified)
            try writeAnew(replica.renewed(ReplicaID(rawValue: random.next())))
        }
        changed = []
    }

    private static func unreadable(_ frame: LogFrame, in storage: any LogStorage) -> LogDamage {
        LogDamage(
            path: storage.path(segment: frame.position.segment), offset: frame.position.offset,
            detail: "a record of kind \(frame.kind) that this program does not understand")
    }
}

extension Effect {
    fileprivate var isOutward: Bool {
        if case .append = self { false } else { true }
    }

    fileprivate var recordKey: String? {
        if case .append(.record(let record, _, _)) = self { record.key } else { nil }
    }
}
