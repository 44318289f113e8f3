/// What a replica keeps in its log. The last entry of a key, and the last state, count.
package enum ReplicaEntry: Sendable, Equatable {
    case record(Table.Entry)
    /// The daemon holds the record of this key with this stamp.
    case acknowledged(key: StoreKey, stamp: StoreStamp)
    case state(ReplicaState)
}

/// What a replica remembers besides its keys.
package struct ReplicaState: Sendable, Equatable {
    package var replica: ReplicaID
    /// The identity of the storage for which `replica` was chosen.
    package var storageIdentity: UInt64 = 0
    /// The greatest clock reading issued or observed under this replica id.
    package var clock = HybridClock.Reading()
    /// The greatest clock reading of a stamp that the daemon holds.
    package var confirmed = HybridClock.Reading()
    /// The daemon's clock minus the device's.
    package var offsetMilliseconds: Int64 = 0
    /// Nil before the first download is complete, and after damage.
    package var cursor: SyncCursor?
    package var initialSyncCompleted = false
    /// How far an unfinished download of everything has come: `cursor` does not cover what it brought.
    package var partialDownload: SyncCursor?
    /// Milliseconds since 1970, device clock.
    package var lastSyncMilliseconds: Int64?

    package init(replica: ReplicaID) { self.replica = replica }
}
