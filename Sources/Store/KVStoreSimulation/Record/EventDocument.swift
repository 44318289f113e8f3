package import KVStoreCore
package import KVStoreWire

/// An event as JSON, on a stream of events and in a record. Fields are added, never renamed or removed.
package struct EventDocument: Encodable, Sendable {
    package let event: String
    package var world: String
    /// Milliseconds since 1970.
    package var time: Int64
    package var store: String?
    package var device: String?
    package var key: StoreKey?
    package var value: StoredValue?
    package var deleted: Bool?
    package var stamp: StoreStamp?
    package var seq: UInt64?
    package var sent: [StoreKey]?
    package var received: [StoreKey]?
    package var rejected: [StoreKey]?
    package var storeCount: Int?
    package var keyCount: Int?
    package var following: Bool?
    /// Encoded as null for a device that signed out.
    package var account: String??
    package var message: String?
    package var outcome: String?
    package var milliseconds: Int64?
    package var call: String?
    package var detail: String?
    package var limit: Int?
    /// The reason of a notification, as its `userInfo` has it.
    package var reason: Int?
    package var keys: [StoreKey]?
    /// How a process ended.
    package var end: String?
    package var decision: DecisionDocument?

    private enum CodingKeys: String, CodingKey {
        case world, time, store, device, key, value, deleted, stamp, seq, sent, received
        case rejected, storeCount, keyCount, following, account, message, outcome, milliseconds
        case call, detail, limit, reason, keys, end, decision
    }

    package init(_ event: String, world: String, time: Int64) {
        self.event = event
        self.world = world
        self.time = time
    }

    /// The value, or that it is removed.
    package mutating func set(_ content: StoreRecord.Content) {
        switch content {
        case .value(let data): value = StoredValue(data)
        case .tombstone: deleted = true
        }
    }

    /// The record with its sequence number.
    package mutating func set(_ entry: SequencedRecord) {
        (key, stamp, seq) = (entry.record.key, entry.record.stamp, entry.sequence)
        set(entry.record.content)
    }

    /// What a fault does to a message.
    package mutating func set(_ message: NetworkFault.Message, _ outcome: FaultOutcome) {
        (self.message, self.outcome) = (message.rawValue, outcome.name)
        if case .delayed(let milliseconds) = outcome { self.milliseconds = milliseconds }
    }
}

/// What a fault does to a message.
package enum FaultOutcome: Sendable, Equatable {
    case delayed(milliseconds: Int64)
    case held, dropped, duplicated, failed, throttled, offline

    fileprivate var name: String {
        switch self {
        case .delayed: "delayed"
        case .held: "held"
        case .dropped: "dropped"
        case .duplicated: "duplicated"
        case .failed: "failed"
        case .throttled: "throttled"
        case .offline: "offline"
        }
    }
}
