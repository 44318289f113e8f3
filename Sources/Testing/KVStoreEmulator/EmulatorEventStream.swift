import Essentials
import KVStoreCore
import KVStoreWire
import KVStoreSimulation
import NIOCore
import KVStoreServer

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
                "opened", data: WireJSON.encode(StreamOpening(after: position, session: events.session)))
        }
        for event in page where text.count < Self.pageByteCount {
            position = event.id
            guard world == nil || event.world == world else { continue }
            let document = EventDocument(event)
            text += EventStreamText.event("\(document.event)\nid: \(event.id)", data: WireJSON.encode(document))
        }
        let hasMore = page.count == Self.pageCount || position != page.last?.id
        return (text.isEmpty ? nil : framed(text), hasMore && !page.isEmpty)
    }

    mutating func isAllowed(by: any DeviceDirectory, in: ConnectionTable) -> Bool { true }
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

extension EventDocument {
    init(_ event: EmulatorEvents.Event) {
        self.init(event.content.name, world: event.world, time: event.time)
        account = event.account.map { .some($0) }
        switch event.content {
        case .connected(let store, let device), .disconnected(let store, let device):
            (self.store, self.device) = (store, device)
        case .sync(let store, let device, let sent, let received, let rejected):
            (self.store, self.device) = (store, device)
            (self.sent, self.received, self.rejected) = (sent, received, rejected)
        case .change(let store, let entry, let device):
            (self.store, self.device) = (store, device)
            set(entry)
        case .reset, .settings: break
        case .imported(let storeCount, let keyCount): (self.storeCount, self.keyCount) = (storeCount, keyCount)
        case .clock(let clock): following = clock.following
        case .account(let device, let account): (self.device, self.account) = (device, .some(account))
        case .faults(let device): self.device = device
        case .fault(let device, let message, let outcome):
            self.device = device
            set(message, outcome)
        case .violation(let violation):
            (device, store) = (violation.device, violation.store)
            (call, detail, limit) = (violation.call, violation.detail, violation.limit)
        }
    }
}

extension EmulatorEvents.Content {
    fileprivate var name: String {
        switch self {
        case .connected: "connected"
        case .disconnected: "disconnected"
        case .sync: "sync"
        case .change: "change"
        case .reset: "reset"
        case .imported: "import"
        case .clock: "clock"
        case .settings: "settings"
        case .account: "account"
        case .faults: "faults"
        case .fault: "fault"
        case .violation: "violation"
        }
    }
}
