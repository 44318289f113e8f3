/// A push and a pull in one round trip. Idempotent: the same request twice changes nothing more.
///
/// For an example see `SyncTransport`.
public struct SyncRequest: Sendable, Equatable {
    public var replica: ReplicaID
    /// The cursor of the last answer applied; nil asks for everything.
    public var since: SyncCursor?
    /// Set while a download of everything spans several pages: the horizon that its first page named, by which
    /// the daemon sees whether the download can continue.
    public var horizon: UInt64?
    /// Records that the daemon may lack.
    public var changes: [StoreRecord]

    public init(replica: ReplicaID, since: SyncCursor?, horizon: UInt64? = nil, changes: [StoreRecord] = []) {
        self.replica = replica
        self.since = since
        self.horizon = horizon
        self.changes = changes
    }
}

/// The daemon's answer to a `SyncRequest`. It is sent only after everything it acknowledges is durable.
///
/// For an example see `SyncTransport`.
public struct SyncResponse: Sendable, Equatable {
    /// What to send as `since` next. Its epoch may differ from the request's: that epoch continued into it.
    public var cursor: SyncCursor
    /// The daemon's clock, milliseconds since 1970.
    public var serverTime: Int64
    /// Whether the answer starts over from the beginning: `since` was nil, belongs to no epoch of this history, or
    /// is below the horizon.
    public var isInitial: Bool
    /// Whether another request is needed to reach the end.
    public var hasMore: Bool
    /// Records after `since`, in ascending order of their sequence numbers, then winners over records of the request.
    public var changes: [SequencedRecord]
    public var rejections: [SyncRejection]
    /// A replica whose cursor is below it has missed a removal that the daemon has forgotten.
    public var horizon: UInt64
    /// With `isInitial`: the epochs of the daemon's history, oldest first, each with its last sequence number. A
    /// replica whose own cursor lies outside has seen changes that the daemon has lost.
    public var lineage: [SyncCursor]

    public init(
        cursor: SyncCursor, serverTime: Int64, isInitial: Bool = false, hasMore: Bool = false,
        changes: [SequencedRecord] = [], rejections: [SyncRejection] = [], horizon: UInt64 = 0,
        lineage: [SyncCursor] = []
    ) {
        self.cursor = cursor
        self.serverTime = serverTime
        self.isInitial = isInitial
        self.hasMore = hasMore
        self.changes = changes
        self.rejections = rejections
        self.horizon = horizon
        self.lineage = lineage
    }
}

/// A change that the daemon did not accept.
///
/// For an example see `SyncTransport`.
public struct SyncRejection: Sendable, Equatable {
    public enum Reason: Sendable, Equatable {
        /// The stamp is too far ahead of the daemon's clock. `limit` is the greatest time accepted, milliseconds
        /// since 1970; `present` the stamp that the daemon holds under the key.
        case clock(limit: Int64, present: StoreStamp?)
        /// A quota of the store, in bytes or keys.
        case quota(limit: Int)
        /// The key is empty or longer than `limit` UTF-16 units.
        case key(limit: Int)
        /// The daemon holds a newer record that did not fit into this answer: send the change again.
        case again

        /// Whether the change is sent again at once.
        var asksAgain: Bool {
            switch self {
            case .clock, .again: true
            case .quota, .key: false
            }
        }
    }

    public var key: StoreKey
    /// The stamp that was rejected; a newer write of the key is not affected.
    public var stamp: StoreStamp
    public var reason: Reason

    public init(_ record: StoreRecord, _ reason: Reason) {
        self.init(key: record.key, stamp: record.stamp, reason: reason)
    }

    public init(key: StoreKey, stamp: StoreStamp, reason: Reason) {
        self.key = key
        self.stamp = stamp
        self.reason = reason
    }
}
