/// One replica of one store: events in, effects out. No clock, no lock, no file, no network.
///
/// The owner makes sure that the log holds what `append` says before it carries out what follows, and that
/// entries appended by other processes have been replayed before an event is handled.
package struct Replica: Sendable, Equatable {
    let limits: StoreLimits
    let notificationKeyCount: Int
    let page: PageLimits
    var table = Table()
    var clock = HybridClock()
    private(set) var state: ReplicaState
    var session = SyncSession()
    var random: SplitMix64

    package init(
        id: ReplicaID, limits: StoreLimits, notificationKeyCount: Int = 50,
        page: PageLimits = WireLimits.page, seed: UInt64
    ) {
        self.limits = limits
        self.notificationKeyCount = max(1, notificationKeyCount)
        self.page = page
        state = ReplicaState(replica: id)
        random = SplitMix64(seed: seed)
    }

    package var id: ReplicaID { state.replica }

    /// Takes a new id where the replica's files stand in another place than the one its id was made for: the other
    /// place may go on giving stamps. Returns whether it did.
    mutating func settle(in home: UInt64, newID: ReplicaID) -> Bool {
        guard state.home != home else { return false }
        state.home = home
        state.replica = newID
        return true
    }

    /// The same replica under a new id, after stamps of the present one may have been lost from the log and are out in
    /// the world.
    func renewed(_ newID: ReplicaID) -> Replica {
        var copy = self
        copy.state.replica = newID
        return copy
    }

    /// Everything to be kept, for a new log: one entry per key, and behind them the state, whose cursor
    /// covers them.
    package var entries: [ReplicaEntry] {
        table.entries.values.sorted { $0.record.key < $1.record.key }.map(Self.entry)
            + [.state(currentState)]
    }

    static func entry(_ entry: Table.Entry) -> ReplicaEntry {
        .record(
            entry.record, isPending: entry.mark != .settled,
            isProvisional: entry.mark == .provisional)
    }

    /// Takes in an entry of the log, its own at start or another process's later. Returns the key whose
    /// visible value has changed, if one has.
    package mutating func replay(_ entry: ReplicaEntry) -> String? {
        switch entry {
        case .record(let record, let isPending, let isProvisional):
            let mark: Table.Mark =
                isProvisional ? .provisional : isPending ? .pending : .settled
            if mark == .settled {
                clock.confirm(record.stamp)
            } else {
                // Behind the state of a refusal stands what was stamped anew, which the state's reading covers.
                if HybridClock.Reading(record.stamp) <= clock.reading { clock.regive(record.stamp) }
                clock.observe(record.stamp)
            }
            return table.put(Table.Entry(record: record, mark: mark)) ? record.key : nil
        case .acknowledged(let key, let stamp):
            clock.confirm(stamp)
            if table[key]?.record.stamp == stamp { table.mark(key, .settled) }
            return nil
        case .state(let other):
            if (other.epoch, other.cursor, other.initialSyncCompleted)
                != (state.epoch, state.cursor, state.initialSyncCompleted)
            {
                session.abandonPass()
            }
            // A refused clock has gone back where the id is another.
            if other.replica != id { clock.restart(at: other.clock) }
            state = other
            clock.offsetMilliseconds = other.offsetMilliseconds
            clock.confirmed = other.confirmed
            clock.observe(other.clock)
            return nil
        }
    }

    package var initialSyncCompleted: Bool { state.initialSyncCompleted }

    package var usedByteCount: Int { table.byteCount }
    package var usedKeyCount: Int { table.keyCount }

    /// Every record, removals included.
    package var records: [Record] { table.entries.values.map(\.record) }

    /// Keys written before the first download, which give way to what the daemon has.
    package var provisionalKeys: Set<String> {
        Set(table.entries.values.lazy.filter { $0.mark == .provisional }.map(\.record.key))
    }

    /// Keys that the daemon has not acknowledged.
    package var pendingKeys: Set<String> { table.pendingKeys }

    /// The content of every key that has a value.
    package var visibleContents: [String: Record.Content] {
        table.entries.compactMapValues { entry in
            entry.record.content.isTombstone ? nil : entry.record.content
        }
    }

    /// The state with the clock's present reading.
    var currentState: ReplicaState {
        var state = state
        state.clock = clock.reading
        state.confirmed = clock.confirmed
        state.offsetMilliseconds = clock.offsetMilliseconds
        return state
    }

    /// Changes the state and has it written down.
    mutating func updateState(_ body: (inout ReplicaState) -> Void) -> Effect {
        body(&state)
        return .append(.state(currentState))
    }

    /// Notifications of at most `notificationKeyCount` keys each.
    func notifications(_ reason: StoreChangeReason, _ keys: [String]) -> [Effect] {
        stride(from: 0, to: keys.count, by: notificationKeyCount).map { start in
            let end = min(start + notificationKeyCount, keys.count)
            return .notify(StoreChange(reason: reason, keys: Array(keys[start..<end])))
        }
    }
}

extension Replica {
    /// A local write. An equal value changes nothing; a write against a limit is dropped, told with reason 2
    /// and described by `violation`.
    package mutating func write(
        _ content: Record.Content, forKey key: String, at now: Moment
    ) -> (effects: [Effect], violation: StoreError?) {
        if let violation = limits.violation(writing: content, forKey: key, into: table) {
            let isQuota = violation.code == .quotaExceeded || violation.code == .tooManyKeys
            return (isQuota ? notifications(.quotaViolationChange, [key]) : [], violation)
        }
        guard (table.content(forKey: key) ?? .tombstone) != content else { return ([], nil) }
        // After a refusal the clock has gone back; what is written now still wins over what it replaces.
        if let former = table[key] { clock.observe(former.record.stamp) }
        let record = Record(
            key: key, stamp: clock.next(now: now.wall, replica: id), content: content)
        let mark: Table.Mark = state.initialSyncCompleted ? .pending : .provisional
        let entry = Table.Entry(record: record, mark: mark)
        table.put(entry)
        session.blocked[key] = nil
        return ([.append(Self.entry(entry))] + startRound(at: now), nil)
    }

    package var status: (connection: StoreStatus.Connection, pendingKeyCount: Int) {
        let connection: StoreStatus.Connection =
            if !session.isAttached {
                .local
            } else if session.stream == .open {
                .connected
            } else if let failure = session.lastFailure {
                .offline(failure.description)
            } else {
                .idle
            }
        return (connection, table.pendingKeys.count)
    }
}

extension Replica {
    /// The same replica with nothing in it, connected as before, for a replay of the whole log.
    func emptied() -> Replica {
        var copy = Replica(
            id: id, limits: limits, notificationKeyCount: notificationKeyCount, page: page, seed: 0)
        copy.random = random
        copy.clock = clock
        copy.session = session
        copy.session.abandonPass()
        return copy
    }

    /// After entries may have been lost: the next round trip downloads everything. Pending keys stay and are
    /// sent. What the daemon does not have goes where it has forgotten removals, and is sent where it has forgotten
    /// none.
    ///
    /// Where the state is lost, or the last one is, the records show whether the first download was complete: before
    /// that all that was written is provisional.
    mutating func forgetProgress(isStateLost: Bool) {
        state.epoch = nil
        state.cursor = 0
        state.download = nil
        if table.entries.values.contains(where: {
            $0.mark == .pending || isStateLost && $0.mark == .settled
        }) {
            state.initialSyncCompleted = true
        }
    }
}
