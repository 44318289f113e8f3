package import KVStoreCore
package import KVStoreLog
package import LocalFiles

/// A replica together with the log that remembers it. Not thread-safe: one owner calls it.
///
/// Every change runs in `transact`: under the lock of all processes, after the entries of other processes have been
/// replayed. What it returns is in the log already, so a killed process would know again whatever was sent or
/// delivered.
package final class DurableReplica {
    package struct Options: Sendable {
        package var limits = StoreLimits()
        package var notificationKeyCount = 50
        package var page = WireLimits.page
        package var segmentByteCount = 1_048_576
        /// How many segments cause the log to be rewritten.
        package var compactionSegmentCount = 3

        package init() {}
    }

    package private(set) var replica: Replica
    package let recovery: LogRecovery
    private let log: SegmentedLog
    private let options: Options
    private var random: SplitMix64
    /// Whether the log holds the replica's state.
    private var isIdentified = false
    /// The torn write at the log's end may once have been complete, and known elsewhere. It stays until a new id is
    /// durable, since another process that opens the log before then needs one too.
    private var needsNewID = false
    /// An entry of a newer program. It must not be lost, so nothing is written from then on.
    private var unreadable: LogDamage?
    /// Keys whose change has not been notified yet: those of other processes, and own ones of a write that failed and
    /// could not be undone.
    private var changed: [StoreKey] = []
    /// Whether other processes have appended since a round last began.
    private var hasUnreadChanges = false
    /// Whether this process has written to the log, even if that failed.
    package private(set) var hasWritten = false
    /// Whether memory may hold what the log does not.
    package private(set) var isStale = false

    /// Opens the log in `storage`. Damaged files are quarantined and reported in `recovery`; the replica then starts
    /// over with its next round trip.
    package init(storage: any LogStorage, options: Options, seed: UInt64) throws(LogError) {
        var random = SplitMix64(seed: seed)
        var replica = Replica(
            id: ReplicaID(rawValue: random.next()), limits: options.limits,
            notificationKeyCount: options.notificationKeyCount, page: options.page, seed: random.next())
        _ = replica.adopt(storageIdentity: storage.identity, newID: replica.id)
        log = SegmentedLog(
            storage: storage,
            options: SegmentedLog.Options(
                segmentByteCount: options.segmentByteCount, isShared: true, newLogID: random.next(), salvages: true))
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
            // If this fails the next change begins with it; reading goes on.
            try? exclusively(renewIfDue)
        }
    }

    /// Runs a change as the only one of all processes, and appends its entries. The result has no entries left.
    ///
    /// When it throws, memory equals the log, and nothing of the change may be executed. What other processes have
    /// changed is notified with the next call that succeeds, and so is the change itself if it is in the log
    /// although the write failed.
    package func transact(at now: Instant, _ body: (inout Replica, Instant) -> Ready) throws(LogError) -> Ready {
        var ready = Ready()
        try exclusively { () throws(LogError) in
            if isStale { try restore(replica.session) }
            var obstacle: LogError?
            do throws(LogError) { try renewIfDue() } catch { obstacle = error }
            let session = replica.session
            do throws(LogError) {
                let newID = ReplicaID(rawValue: random.next())
                let isNew = replica.adopt(storageIdentity: log.storage.identity, newID: newID)
                let first = isNew || !isIdentified ? replica.currentState : nil
                ready = body(&replica, now)
                if let obstacle, !ready.entries.isEmpty { throw obstacle }
                try append(ready.entries, after: first)
            } catch {
                do throws(LogError) {
                    try restore(session)
                } catch {
                    // Memory stays ahead of the log until that succeeds; then these keys are notified as the log has
                    // them.
                    changed += ready.entries.compactMap(\.recordKey)
                    throw error
                }
                throw error
            }
        }
        ready.entries = []
        ready.notifications = unreadNotifications() + ready.notifications
        return ready
    }

    /// How to go on after `transact` has thrown for an event.
    package func recovery(from event: Event, cause: SyncTransportError) -> Event.Recovery {
        replica.recovery(from: event, cause: cause)
    }

    /// Applies what other processes have appended.
    package func catchUp(at now: Instant) throws(LogError) -> Ready {
        try log.catchUp(isLocked: false, visit: replay)
        if let unreadable { throw .damaged(unreadable) }
        if isStale {
            try exclusively { () throws(LogError) in try restore(replica.session) }
        }
        var ready = hasUnreadChanges ? replica.resume(at: now) : Ready()
        hasUnreadChanges = false
        ready.notifications = unreadNotifications()
        return ready
    }

    /// Blocks until everything appended is durable.
    package func sync() throws(LogError) { try log.sync() }

    package func prepareSync() throws(LogError) -> SegmentedLog.PendingSync? {
        try log.prepareSync()
    }

    package func finish(_ sync: SegmentedLog.PendingSync, failure: FileError?) throws(LogError) {
        try log.finish(sync, failure: failure)
    }

    /// Syncs what this process has written.
    package func close() throws(LogError) { try log.close(syncs: hasWritten) }

    // MARK: -

    /// Runs `body` as the only one of all processes, after the entries of other processes have been replayed.
    private func exclusively(_ body: () throws(LogError) -> Void) throws(LogError) {
        try log.exclusively(visit: replay) { () throws(LogError) in
            if let unreadable { throw .damaged(unreadable) }
            try body()
        }
    }

    /// Replays an entry of another process at once: the log does not visit it again, whatever fails next.
    private func replay(_ frame: LogFrame) {
        guard unreadable == nil, let entries = ReplicaEntry.entries(in: frame) else {
            unreadable = unreadable ?? Self.unreadable(frame, in: log.storage)
            return
        }
        hasUnreadChanges = true
        for entry in entries {
            if case .state = entry { isIdentified = true }
            if let key = replica.replay(entry) { changed.append(key) }
        }
    }

    private func unreadNotifications() -> [StoreChange] {
        guard !changed.isEmpty else { return [] }
        defer { changed = [] }
        return replica.notifications(.serverChange, changed)
    }

    /// All entries go into one frame: a torn write keeps all or none, so the log never holds what an answer brought
    /// without the cursor that covers it, nor a cursor without what it covers.
    private func append(_ entries: [ReplicaEntry], after first: ReplicaState?) throws(LogError) {
        var entries = entries
        if let first, !entries.isEmpty { entries.insert(.state(first), at: 0) }
        guard let payload = ReplicaEntry.payload(of: entries) else { return }
        hasWritten = true
        try log.append([payload])
        isIdentified = true
        if log.segments.count >= options.compactionSegmentCount {
            // If this fails (a full disk) the entries are in the log all the same; the next append tries again.
            try? rewrite(replica)
        }
    }

    private func rewrite(_ replica: Replica) throws(LogError) {
        hasWritten = true
        let payloads = replica.entries.map(\.payload)
        if log.isClosedByFailure {
            try log.recover(rewriting: payloads)
        } else {
            try log.rewrite(payloads)
        }
        self.replica = replica
        isIdentified = true
    }

    /// Whether a sync has failed since the log was last opened or rewritten.
    package var isClosedByFailure: Bool { log.isClosedByFailure }

    /// Writes everything again, durably, after a failed sync: what the disk has of the log is unknown, and memory has
    /// all of it. Does nothing otherwise.
    package func recover() throws(LogError) {
        guard log.isClosedByFailure else { return }
        try exclusively { () throws(LogError) in
            if isStale { try restore(replica.session) }
            try renewIfDue()
        }
    }

    private func renewIfDue() throws(LogError) {
        guard needsNewID else {
            if log.isClosedByFailure { try rewrite(replica) }
            return
        }
        var renewed = replica.renewed(ReplicaID(rawValue: random.next()))
        // A first state comes before any key, so the torn write held it.
        if !isIdentified { renewed.forgetProgress(isStateLost: true) }
        try rewrite(renewed)
        needsNewID = false
    }

    /// Restores memory from the log, and the session as it was, after an append failed. If reading fails
    /// too, the next change begins with it.
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

    /// After damage: keeps every complete entry in a new segment, takes a new id and forgets the cursor, so that the
    /// next round trip brings back what was lost and sends what the daemon may lack.
    private func startOver() throws(LogError) {
        try exclusively { () throws(LogError) in
            replica.forgetProgress(isStateLost: !isIdentified)
            try rewrite(replica.renewed(ReplicaID(rawValue: random.next())))
        }
        changed = []
    }

    /// The damage that a frame of a newer program is to this one.
    static func unreadable(_ frame: LogFrame, in storage: any LogStorage) -> LogDamage {
        LogDamage(
            path: storage.path(segment: frame.position.segment), offset: frame.position.offset,
            detail: "a record of unknown kind \(frame.kind)")
    }
}

extension ReplicaEntry {
    fileprivate var recordKey: StoreKey? {
        if case .record(let entry) = self { entry.record.key } else { nil }
    }
}
