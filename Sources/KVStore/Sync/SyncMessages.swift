public import Foundation

/// A record on the wire. `docs/protocol.md` is normative.
public struct SyncChange: Sendable, Codable, Equatable {
    public var key: String
    /// The text form of a `Stamp`.
    public var stamp: String
    /// The value's bytes, base64 in JSON; nil for a removed key.
    public var value: Data?
    public var deleted: Bool?
    /// The daemon's sequence number; nil on the way up.
    public var seq: UInt64?

    public init(
        key: String, stamp: String, value: Data? = nil, deleted: Bool? = nil, seq: UInt64? = nil
    ) {
        self.key = key
        self.stamp = stamp
        self.value = value
        self.deleted = deleted
        self.seq = seq
    }

    public init(_ record: Record, seq: UInt64? = nil) {
        key = record.key
        stamp = record.stamp.description
        self.seq = seq
        switch record.content {
        case .value(let data): value = data
        case .tombstone: deleted = true
        }
    }

    /// The record, or nil when the stamp is not one or the change has neither a value nor `deleted`.
    public var record: Record? {
        guard let stamp = Stamp(stamp) else { return nil }
        if deleted == true {
            guard value == nil else { return nil }
            return Record(key: key, stamp: stamp, content: .tombstone)
        }
        guard let value else { return nil }
        return Record(key: key, stamp: stamp, content: .value(value))
    }
}

/// Push and pull in one round trip. The same request twice changes nothing more.
public struct SyncRequest: Sendable, Codable, Equatable {
    /// The text form of the sender's `ReplicaID`.
    public var replica: String
    /// The daemon's epoch as last seen; nil before the first answer.
    public var epoch: String?
    /// The cursor of the last answer applied; 0 before the first.
    public var since: UInt64
    /// While a download of everything is under way: the horizon that its first page named, so that the
    /// daemon sees whether it still holds.
    public var horizon: UInt64?
    public var changes: [SyncChange]

    public init(
        replica: String, epoch: String?, since: UInt64, horizon: UInt64? = nil,
        changes: [SyncChange]
    ) {
        self.horizon = horizon
        self.replica = replica
        self.epoch = epoch
        self.since = since
        self.changes = changes
    }
}

public struct SyncResponse: Sendable, Codable, Equatable {
    /// The daemon's present epoch; where the answer goes on from the request's cursor, that cursor's history
    /// has gone over into it.
    public var epoch: String
    /// What to send as `since` next.
    public var cursor: UInt64
    /// The daemon's clock, milliseconds since 1970.
    public var serverTime: Int64
    /// True when the answer starts over: the cursor was of another epoch or below the horizon.
    public var initial: Bool
    /// Cursors below it have missed a removal that the daemon no longer knows.
    public var horizon: UInt64?
    /// True when another request is needed to reach the end.
    public var more: Bool
    public var changes: [SyncChange]
    public var rejected: [SyncRejection]
    /// With `initial`: the epochs that make up the daemon's history. A replica whose epoch and cursor are
    /// not in it has seen changes that the daemon has lost.
    public var lineage: [SyncEpoch]?

    public init(
        epoch: String, cursor: UInt64, serverTime: Int64, initial: Bool, more: Bool,
        changes: [SyncChange], rejected: [SyncRejection] = [], horizon: UInt64? = nil,
        lineage: [SyncEpoch]? = nil
    ) {
        self.lineage = lineage
        self.horizon = horizon
        self.epoch = epoch
        self.cursor = cursor
        self.serverTime = serverTime
        self.initial = initial
        self.more = more
        self.changes = changes
        self.rejected = rejected
    }
}

/// A part of a store's history.
public struct SyncEpoch: Sendable, Codable, Equatable {
    public var epoch: String
    /// The last sequence number given in it.
    public var end: UInt64

    public init(epoch: String, end: UInt64) {
        self.epoch = epoch
        self.end = end
    }
}

/// A change that the daemon did not take.
public struct SyncRejection: Sendable, Codable, Equatable {
    public var key: String
    /// "quota", "clock", "key" or "again".
    public var reason: String
    /// The limit that was hit, in the reason's unit.
    public var limit: Int64?
    /// The stamp that was refused: a newer write of the key is not meant.
    public var stamp: String?
    /// With "clock": the stamp of what the daemon has under the key.
    public var present: String?

    public static let quota = "quota"
    public static let clock = "clock"
    public static let key = "key"
    /// A newer record is there, and there was no room for it in this answer: send the change again.
    public static let again = "again"

    public init(
        key: String, reason: String, limit: Int64? = nil, stamp: String? = nil,
        present: String? = nil
    ) {
        self.present = present
        self.key = key
        self.reason = reason
        self.limit = limit
        self.stamp = stamp
    }
}
