// The rules of the store as values: keys, stamps, the merge, quota, and replica and hub as state
// machines. Not here: a clock, a lock, a file or a socket; time and randomness are arguments, and
// each event returns what its owner has to do.

/// One replica of one store, as a pure state machine: an event in, a `Ready` out.
///
/// The owner executes each `Ready` under its contract, and replays the entries that other processes have appended
/// before it handles the next event.
package struct Replica: Sendable, Equatable {
    let limits: StoreLimits
    let notificationKeyCount: Int
    let page: PageLimits
    package internal(set) var table = Table()
    var clock = HybridClock()
    package internal(set) var state: ReplicaState
    package var session = SyncSession()
    var random: SplitMix64
    /// What the event under way requires; empty between events.
    var ready = Ready()

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

    // MARK: - Reading

    /// The content of every key that has a value.
    package var visibleContents: [StoreKey: StoreRecord.Content] {
        table.entries.compactMapValues { entry in
            entry.record.content.isTombstone ? nil : entry.record.content
        }
    }

    package var connection: StoreStatus.Connection {
        if session.phase == .detached { return .local }
        if case .open = session.stream { return .connected }
        return session.failures.last.map { .offline($0.description) } ?? .idle
    }

    // MARK: - Writing

    /// Local writes: all of them, or none when one passes a limit, which `violation` describes; one past a quota is
    /// notified as well. They are one frame of the log, and travel together. An equal value changes nothing.
    package mutating func write(
        _ contents: [StoreKey: StoreRecord.Content], at now: Instant
    ) -> (ready: Ready, violation: StoreError?) {
        let violation = put(contents, at: now)
        if violation?.code == .quotaExceeded || violation?.code == .tooManyKeys {
            notify(.quotaViolationChange, contents.keys.sorted())
        }
        return (takeReady(), violation)
    }

    /// Writes values for keys that have none: all of them, or none when one of them passes a limit.
    package mutating func fill(
        _ contents: [StoreKey: StoreRecord.Content], at now: Instant
    ) -> (ready: Ready, violation: StoreError?) {
        let violation = put(contents.filter { table.content(forKey: $0.key) == nil }, at: now)
        return (takeReady(), violation)
    }

    private mutating func put(_ contents: [StoreKey: StoreRecord.Content], at now: Instant) -> StoreError? {
        // A write that is refused changes nothing, so that a single one needs no copy.
        let former = contents.count > 1 ? self : nil
        // What gives room comes first: only the outcome has to respect the limits.
        let growth = contents.map { key, content in
            (content.quotaByteCount - (table.content(forKey: key)?.quotaByteCount ?? 0), key)
        }
        for (_, key) in growth.sorted(by: <) {
            guard let violation = put(contents[key] ?? .tombstone, forKey: key, at: now) else { continue }
            if let former { self = former }
            return violation
        }
        if !ready.entries.isEmpty { startRound(at: now) }
        return nil
    }

    private mutating func put(
        _ content: StoreRecord.Content, forKey key: StoreKey, at now: Instant
    ) -> StoreError? {
        if let violation = limits.violation(writing: content, forKey: key, into: table) {
            return violation
        }
        guard (table.content(forKey: key) ?? .tombstone) != content else { return nil }
        // The clock may have gone back after a rejection; a write still wins over what it replaces.
        if let former = table[key] { clock.observe(former.record.stamp) }
        let record = StoreRecord(key: key, stamp: clock.next(now: now.wall, replica: id), content: content)
        store(Table.Entry(record: record, status: state.initialSyncCompleted ? .pending : .provisional))
        session.blocked[key] = nil
        return nil
    }

    // MARK: - Steps of an event

    mutating func takeReady() -> Ready {
        defer { ready = Ready() }
        return ready
    }

    /// Puts an entry into table and log; returns whether the visible value changed.
    @discardableResult
    mutating func store(_ entry: Table.Entry) -> Bool {
        ready.entries.append(.record(entry))
        return table.put(entry)
    }

    mutating func updateState(_ body: (inout ReplicaState) -> Void) {
        body(&state)
        ready.entries.append(.state(currentState))
    }

    /// Notifies observers of the keys, each once: in one notification, unless there are more than
    /// `notificationKeyCount`.
    mutating func notify(_ reason: StoreChangeReason, _ keys: [StoreKey]) {
        ready.notifications += notifications(reason, keys)
    }

    package func notifications(_ reason: StoreChangeReason, _ keys: [StoreKey]) -> [StoreChange] {
        var known: Set<StoreKey> = []
        let keys = keys.filter { known.insert($0).inserted }
        return stride(from: 0, to: keys.count, by: notificationKeyCount).map { start in
            let batch = keys[start..<min(start + notificationKeyCount, keys.count)]
            return StoreChange(reason: reason, keys: batch.map(\.text))
        }
    }
}
