/// Why values changed other than by this instance. Raw values are Apple's.
///
/// For an example see `StoreChange`.
public enum StoreChangeReason: Int, Sendable, Equatable, CaseIterable {
    case serverChange = 0
    case initialSyncChange = 1
    case quotaViolationChange = 2
    case accountChange = 3
}

/// A batch of keys whose visible value changed, or whose write was dropped.
///
/// ```swift
/// for await change in store.changes where change.reason == .serverChange {
///     print(change.keys.sorted())
/// }
/// ```
public struct StoreChange: Sendable, Equatable {
    public var reason: StoreChangeReason
    /// In no particular order; each key once. Empty only for an account change where no value differs, or which does
    /// not name them.
    public var keys: [String]

    public init(reason: StoreChangeReason, keys: [String]) {
        self.reason = reason
        self.keys = keys
    }
}

/// What was sent and received during a `synchronizeNow`.
///
/// ```swift
/// let report = try await store.synchronizeNow()
/// if report.pendingKeyCount > 0 { print(report.refusal ?? "the daemon has no room") }
/// ```
public struct SyncReport: Sendable, Equatable {
    /// Keys sent to the daemon and accepted by it.
    public var sentKeyCount: Int
    /// Keys whose value came from the daemon.
    public var receivedKeyCount: Int
    /// Keys still to be sent: the daemon rejected them for now.
    public var pendingKeyCount: Int
    /// Why the daemon refused changes as a whole: the device may not write, or an account or a disk is full. Nil
    /// otherwise.
    public var refusal: String?
    /// The pending keys that the daemon refuses, sorted. They are sent again later, and wait for nothing but room.
    public var refusedKeys: [String]
    /// Whether the refusal is that the device may only read.
    public var isReadOnly: Bool

    public init(
        sentKeyCount: Int = 0, receivedKeyCount: Int = 0, pendingKeyCount: Int = 0, refusal: String? = nil,
        refusedKeys: [String] = [], isReadOnly: Bool = false
    ) {
        self.sentKeyCount = sentKeyCount
        self.receivedKeyCount = receivedKeyCount
        self.pendingKeyCount = pendingKeyCount
        self.refusal = refusal
        self.refusedKeys = refusedKeys
        self.isReadOnly = isReadOnly
    }
}

/// Connection, progress and quota of a store at one point in time.
///
/// ```swift
/// if case .offline(let reason) = store.status.connection { print(reason) }
/// print("\(store.status.usedByteCount) of \(store.status.limits.totalByteCount) bytes")
/// ```
public struct StoreStatus: Sendable, Equatable {
    public enum Connection: Sendable, Equatable {
        /// There is no transport: the store is local.
        case local
        /// The live stream is open.
        case connected
        /// A round trip is under way, or none is needed.
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
    /// The pending keys that the daemon refuses, sorted, and why; as far as this process has tried to send them.
    public var refusedKeys: [String]
    public var refusal: String?
    public var usedByteCount: Int
    public var usedKeyCount: Int
    public var limits: StoreLimits
    public var replica: ReplicaID
    /// What opening the replica repaired or quarantined, as sentences for users; usually empty.
    public var recoveryNotes: [String]

    package init(
        connection: Connection, initialSyncCompleted: Bool, lastSyncMilliseconds: Int64?, pendingKeyCount: Int,
        refusedKeys: [String], refusal: String?, usedByteCount: Int, usedKeyCount: Int, limits: StoreLimits,
        replica: ReplicaID, recoveryNotes: [String]
    ) {
        self.connection = connection
        self.initialSyncCompleted = initialSyncCompleted
        self.lastSyncMilliseconds = lastSyncMilliseconds
        self.pendingKeyCount = pendingKeyCount
        self.refusedKeys = refusedKeys
        self.refusal = refusal
        self.usedByteCount = usedByteCount
        self.usedKeyCount = usedKeyCount
        self.limits = limits
        self.replica = replica
        self.recoveryNotes = recoveryNotes
    }
}
