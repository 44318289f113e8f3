/// What happened, from outside the replica.
package enum Event: Sendable, Equatable {
    /// A transport is there. With `isLive` the replica keeps a stream open.
    case attached(isLive: Bool)
    /// Somebody waits for a whole round trip that begins after this moment.
    case synchronize(waiter: UInt64)
    case answered(SyncResponse)
    case failed(SyncTransportError)
    case stream(SyncEvent)
    /// The stream is over; nil when the daemon closed it.
    case streamEnded(SyncTransportError?)
    /// The moment of an earlier `wake` has come.
    case woke

    /// What to do when the entries of an event could not be written down (a full disk), which leaves the replica
    /// as it was before.
    package enum Unwritten {
        /// The replica is told of a failure and tries again after a while.
        case tell(Event)
        /// The replica waits for the event: it is told again after `Backoff.greatestMilliseconds`.
        case again
        /// Whoever caused it has got the error.
        case drop
    }

    package func unwritten(_ cause: SyncTransportError) -> Unwritten {
        switch self {
        case .answered: .tell(.failed(cause))
        case .stream: .tell(.streamEnded(cause))
        case .failed, .streamEnded, .woke: .again
        case .attached, .synchronize: .drop
        }
    }
}

/// What is to be done, in this order.
///
/// Contract: all `append`s of one event are in the log, where a torn write keeps all of them or none, before another
/// effect is carried out, so nothing is told that a killed process would not know again; and they are on disk before
/// a `send` is carried out, so no stamp that another device may have seen is given out twice. There is at most one
/// `send` and one `openStream` under way.
package enum Effect: Sendable, Equatable {
    case append(ReplicaEntry)
    /// Answer with `answered` or `failed`.
    case send(SyncRequest)
    /// Answer with `stream` events and one `streamEnded`.
    case openStream(since: UInt64, epoch: String)
    /// End the stream; no `streamEnded` follows.
    case closeStream
    case notify(StoreChange)
    /// Send `woke` at this monotonic millisecond; a later `wake` replaces it.
    case wake(at: Int64)
    case finish(waiter: UInt64, SyncOutcome)
}

package enum SyncOutcome: Sendable, Equatable {
    case synchronized(SyncReport)
    case failed(SyncTransportError)
}

/// What a replica keeps on disk: one or several of these in each frame of its log. The last one of a key counts.
package enum ReplicaEntry: Sendable, Equatable {
    case record(Record, isPending: Bool, isProvisional: Bool)
    /// The daemon has the record of this key with this stamp.
    case acknowledged(key: String, stamp: Stamp)
    case state(ReplicaState)
}

/// What a replica remembers beside its keys.
package struct ReplicaState: Sendable, Equatable {
    package var replica: ReplicaID
    /// The identity of the storage that the replica's id was made for.
    package var home: UInt64 = 0
    /// The greatest clock reading given out or seen under this replica id.
    var clock = HybridClock.Reading()
    /// The greatest clock reading of a stamp that the daemon has.
    var confirmed = HybridClock.Reading()
    /// Daemon's clock minus the device's.
    package var offsetMilliseconds: Int64 = 0
    /// The daemon's epoch; nil before the first answer.
    package var epoch: String?
    package var cursor: UInt64 = 0
    package var initialSyncCompleted = false
    /// How far a download of everything has come that is not complete: what it brought is not covered by `cursor`.
    var download: SyncEpoch?
    /// Milliseconds since 1970, device clock.
    package var lastSyncMilliseconds: Int64?

    package init(replica: ReplicaID) { self.replica = replica }
}
