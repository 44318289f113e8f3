/// Why values changed without this instance having set them. Raw values are Apple's.
public enum StoreChangeReason: Int, Sendable, Equatable, CaseIterable {
    case serverChange = 0
    case initialSyncChange = 1
    case quotaViolationChange = 2
    case accountChange = 3
}

/// A batch of keys whose visible value changed, or whose write was dropped.
public struct StoreChange: Sendable, Equatable {
    public var reason: StoreChangeReason
    /// In no particular order; each key once.
    public var keys: [String]

    public init(reason: StoreChangeReason, keys: [String]) {
        self.reason = reason
        self.keys = keys
    }
}

/// What was sent and received while a `synchronize` was awaited.
public struct SyncReport: Sendable, Equatable {
    /// Keys sent to the daemon and taken by it.
    public var sentKeyCount: Int
    /// Keys whose value came from the daemon.
    public var receivedKeyCount: Int
    /// Keys still to be sent: the daemon refused them for now.
    public var pendingKeyCount: Int

    public init(sentKeyCount: Int = 0, receivedKeyCount: Int = 0, pendingKeyCount: Int = 0) {
        self.sentKeyCount = sentKeyCount
        self.receivedKeyCount = receivedKeyCount
        self.pendingKeyCount = pendingKeyCount
    }
}

/// How a store stands right now.
public struct StoreStatus: Sendable, Equatable {
    public enum Connection: Sendable, Equatable {
        /// There is no transport: the store works locally.
        case local
        /// The live stream is open.
        case connected
        /// A round trip is under way, or nothing needs one.
        case idle
        /// The last attempt failed; the text says why.
        case offline(String)
    }

    public var connection: Connection
    /// Whether the first download of the account has been completed.
    public var initialSyncCompleted: Bool
    /// Milliseconds since 1970 of the last completed round trip by any process; nil before the first.
    public var lastSyncMilliseconds: Int64?
    public var pendingKeyCount: Int
    public var usedByteCount: Int
    public var usedKeyCount: Int
    public var limits: StoreLimits
    public var replica: ReplicaID
    /// What opening the replica repaired or set aside, for a person to read; empty when all was well.
    public var recoveryNotes: [String]
}
