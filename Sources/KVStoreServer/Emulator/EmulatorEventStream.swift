import Essentials
import KVStoreCore
import KVStoreDocuments
import KVStoreSimulation
import KVStoreWire
import NIOCore

/// The position of a reader of an emulator's events.
struct EmulatorEventStream: LiveStream {
    private let events: EmulatorEvents
    /// Nil for those of all worlds.
    private let world: String?
    /// The id of the last event that was read.
    private var position: UInt64
    private var isOpened = false
    private(set) var isComplete = false
    var isChunked = true

    var topic: StoreID { EmulatorEvents.topic }

    init(_ events: EmulatorEvents, world: String?, after position: UInt64) {
        self.events = events
        self.world = world
        self.position = position
    }

    /// Events that are looked at in one step, and bytes of text after which it ends.
    private static let (pageCount, pageByteCount) = (256, 65_536)

    mutating func next(_: EventPages) -> (text: ByteBuffer?, hasMore: Bool) {
        guard let page = events.page(after: position, count: Self.pageCount) else {
            isComplete = true
            return (framed(EventStreamText.missed(before: events.latestID)), false)
        }
        var text = Data()
        if !isOpened {
            isOpened = true
            text += EventStreamText.event(
                "opened",
                data: WireJSON.encode(StreamOpening(after: position, session: events.session)))
        }
        for event in page where text.count < Self.pageByteCount {
            position = event.id
            guard world == nil || event.world == world else { continue }
            let document = EventDocument(event)
            text += EventStreamText.event(
                "\(document.event)\nid: \(event.id)", data: WireJSON.encode(document))
        }
        let hasMore = page.count == Self.pageCount || position != page.last?.id
        return (text.isEmpty ? nil : framed(text), hasMore && !page.isEmpty)
    }

    mutating func isAllowed(by: DeviceRegistry, in: ConnectionTable) -> Bool { true }
}

/// The data of the event that a stream begins with.
private struct StreamOpening: Encodable {
    var after: UInt64
    var session: String
}

extension EventStreamText {
    /// With the id from which a reader continues.
    fileprivate static func missed(before id: UInt64) -> Data {
        event("missed\nid: \(id)", data: Data("{}".utf8))
    }
}

/// An event as JSON. Fields are added, never renamed or removed.
struct EventDocument: Encodable {
    let event: String
    var world: String
    var time: Int64
    var store: String?
    var device: String?
    var key: StoreKey?
    var value: StoredValue?
    var deleted: Bool?
    var stamp: Stamp?
    var seq: UInt64?
    var sent: [StoreKey]?
    var received: [StoreKey]?
    var rejected: [StoreKey]?
    var storeCount: Int?
    var keyCount: Int?
    var following: Bool?
    /// Encoded as null for a device that signed out.
    var account: String??
    var message: String?
    var outcome: String?
    var milliseconds: Int64?
    var call: String?
    var detail: String?
    var limit: Int?

    private enum CodingKeys: String, CodingKey {
        case world, time, store, device, key, value, deleted, stamp, seq, sent, received
        case rejected, storeCount, keyCount, following, account, message, outcome, milliseconds
        case call, detail, limit
    }

    init(_ event: EmulatorEvents.Event) {
        (world, time) = (event.world, event.time)
        account = event.account.map { .some($0) }
        switch event.content {
        case .connected(let store, let device):
            self.event = "connected"
            (self.store, self.device) = (store, device)
        case .disconnected(let store, let device):
            self.event = "disconnected"
            (self.store, self.device) = (store, device)
        case .sync(let store, let device, let sent, let received, let rejected):
            self.event = "sync"
            (self.store, self.device) = (store, device)
            (self.sent, self.received, self.rejected) = (sent, received, rejected)
        case .change(let store, let entry, let device):
            self.event = "change"
            (self.store, self.device, key) = (store, device, entry.record.key)
            (stamp, seq) = (entry.record.stamp, entry.sequence)
            switch entry.record.content {
            case .value(let data): value = StoredValue(data)
            case .tombstone: deleted = true
            }
        case .reset: self.event = "reset"
        case .imported(let storeCount, let keyCount):
            self.event = "import"
            (self.storeCount, self.keyCount) = (storeCount, keyCount)
        case .clock(let clock):
            self.event = "clock"
            following = clock.following
        case .settings: self.event = "settings"
        case .account(let device, let account):
            self.event = "account"
            (self.device, self.account) = (device, .some(account))
        case .faults(let device):
            self.event = "faults"
            self.device = device
        case .fault(let device, let message, let outcome):
            self.event = "fault"
            (self.device, self.message) = (device, message.rawValue)
            self.outcome = outcome.name
            if case .delayed(let milliseconds) = outcome { self.milliseconds = milliseconds }
        case .violation(let violation):
            self.event = "violation"
            (device, store) = (violation.device, violation.store)
            (call, detail, limit) = (violation.call, violation.detail, violation.limit)
        }
    }
}

extension EmulatorEvents.FaultOutcome {
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
