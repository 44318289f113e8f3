/// What the owner of the log does with a replica.
extension Replica {
    /// Everything to keep, for a rewritten log: an entry per key, then the state, whose cursor covers them.
    package var entries: [ReplicaEntry] {
        table.entries.values.sorted { $0.record.key < $1.record.key }.map { .record($0) } + [.state(currentState)]
    }

    /// The state with the clock's present reading.
    package var currentState: ReplicaState {
        var state = state
        state.clock = clock.reading
        state.confirmed = clock.confirmed
        state.offsetMilliseconds = clock.offsetMilliseconds
        return state
    }

    /// Applies an entry of the log: its own at start, or another process's later. Returns the key whose
    /// visible value changed, if one did.
    package mutating func replay(_ entry: ReplicaEntry) -> StoreKey? {
        switch entry {
        case .record(let entry):
            let stamp = entry.record.stamp
            if entry.status == .acknowledged {
                clock.confirm(stamp)
            } else {
                // A reissued stamp follows the state of its rejection, whose reading covers it.
                if HybridClock.Reading(stamp) <= clock.reading { clock.markReissued(stamp) }
                clock.observe(stamp)
            }
            return table.put(entry) ? entry.record.key : nil
        case .acknowledged(let key, let stamp):
            clock.confirm(stamp)
            if table[key]?.record.stamp == stamp { table.acknowledge(key) }
            return nil
        case .state(let other):
            if (other.cursor, other.initialSyncCompleted) != (state.cursor, state.initialSyncCompleted) {
                session.abandonDownload()
            }
            // The clock has gone back after a rejection if the id is another.
            if other.replica != id { clock.restart(at: other.clock) }
            state = other
            clock.offsetMilliseconds = other.offsetMilliseconds
            clock.confirmed = other.confirmed
            clock.observe(other.clock)
            return nil
        }
    }

    /// Takes a new id if the replica's files are not where its id was chosen: the original may still issue
    /// stamps under it. Returns whether it did.
    package mutating func adopt(storageIdentity: UInt64, newID: ReplicaID) -> Bool {
        guard state.storageIdentity != storageIdentity else { return false }
        state.storageIdentity = storageIdentity
        state.replica = newID
        return true
    }

    /// The same replica under a new id, after stamps of the present one may have been lost from the log and still
    /// be known elsewhere.
    package func renewed(_ newID: ReplicaID) -> Replica {
        var copy = self
        copy.state.replica = newID
        return copy
    }

    /// The same replica with nothing in it, connected as before, for a replay of the whole log.
    package func emptied() -> Replica {
        var copy = Replica(id: id, limits: limits, notificationKeyCount: notificationKeyCount, page: page, seed: 0)
        copy.random = random
        copy.clock = clock
        copy.session = session
        copy.session.abandonDownload()
        return copy
    }

    /// After entries may have been lost: the next round trip downloads everything. Pending keys stay and are
    /// sent. What the daemon lacks goes if it has forgotten removals, and is sent if it has forgotten none.
    ///
    /// If the state itself is lost, or may be, the records show whether the first download was complete: before
    /// that, everything written is provisional.
    package mutating func forgetProgress(isStateLost: Bool) {
        state.cursor = nil
        state.partialDownload = nil
        if table.entries.values.contains(where: {
            $0.status == .pending || isStateLost && $0.status == .acknowledged
        }) {
            state.initialSyncCompleted = true
        }
    }
}
