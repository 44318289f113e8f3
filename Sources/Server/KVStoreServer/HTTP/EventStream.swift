package import KVStoreCore
import KVStoreLedger
import KVStoreWire
package import NIOCore

/// A live reader's position in what a connection streams to its end: server-sent events.
package protocol LiveStream {
    /// What wakes it.
    var topic: StoreID { get }
    var isChunked: Bool { get set }
    /// Whether no event follows.
    var isComplete: Bool { get }

    /// The next events, nil when the reader has all of them, and whether there are more behind them.
    mutating func next(_ pages: EventPages) -> (text: ByteBuffer?, hasMore: Bool)

    /// Whether the reader may still read.
    mutating func isAllowed(by devices: any DeviceDirectory, in table: ConnectionTable) -> Bool
}

extension LiveStream {
    package func framed(_ text: some Collection<UInt8>) -> ByteBuffer {
        var buffer = ByteBuffer()
        if isChunked { buffer.writeChunk(text) } else { buffer.writeBytes(text) }
        return buffer
    }
}

/// The position of a live reader of a store.
package struct EventStream: LiveStream {
    let device: Device
    package let store: StoreID
    /// Otherwise only which keys have changed.
    private let hasValues: Bool
    /// Counts the stream as one of its device's while it exists.
    let slot: StreamSlot
    package private(set) var cursor: SyncCursor
    package private(set) var isComplete = false
    private var isOpened = false
    /// The generation of the devices in which the device was found last.
    private var generation: UInt64?
    package var isChunked = true

    package var topic: StoreID { store }

    init(device: Device, store: StoreID, start: SyncCursor, hasValues: Bool, slot: StreamSlot) {
        self.device = device
        self.store = store
        self.hasValues = hasValues
        self.slot = slot
        cursor = start
    }

    /// The next events, nil when the reader has all durable changes, and whether there are more behind them. A reset is
    /// the last event.
    package mutating func next(_ pages: EventPages) -> (text: ByteBuffer?, hasMore: Bool) {
        guard let page = pages.page(of: store, after: cursor, hasValues: hasValues) else {
            isComplete = true
            return (framed(EventStreamText.reset), false)
        }
        let start = cursor
        cursor.sequence = max(cursor.sequence, page.cursor)
        let events = page.text.map { isChunked ? $0.framed : $0.events }
        guard !isOpened else { return (events, page.hasMore) }
        isOpened = true
        var text = framed(EventStreamText.opened(at: start))
        if let events { text.writeImmutableBuffer(events) }
        return (text, page.hasMore)
    }

    /// Whether the device still exists with the same permissions.
    package mutating func isAllowed(by devices: any DeviceDirectory, in table: ConnectionTable) -> Bool {
        let present = table.generation(of: devices)
        if generation != present {
            guard devices.isCurrent(device) else { return false }
            generation = present
        }
        return true
    }
}

/// The changes after a cursor as events, encoded once for all readers at the same position. On the event loop only, and
/// unchecked for that reason.
package final class EventPages: @unchecked Sendable {
    struct Page {
        /// Nil without changes.
        var text: Text?
        /// The position after the page.
        var cursor: UInt64
        var hasMore = false
    }

    struct Text {
        /// As one chunk of a chunked body, and the events alone, which share its storage.
        var framed: ByteBuffer
        var events: ByteBuffer
    }

    private struct Position: Equatable {
        var store: StoreID
        var cursor: SyncCursor
    }

    private let engine: any StorageEngine
    private let limits: PageLimits
    private typealias Latest = (position: Position, durable: UInt64, page: Page)
    private var latest: Latest?
    /// Without values.
    private var latestKeys: Latest?

    init(_ engine: any StorageEngine, byteCount: Int) {
        self.engine = engine
        limits = PageLimits(byteCount: byteCount, recordCount: WireLimits.page.recordCount)
    }

    /// The durable changes after a cursor; nil when it is not in the present epoch, and the reader has to sync again.
    func page(of store: StoreID, after cursor: SyncCursor, hasValues: Bool) -> Page? {
        let position = Position(store: store, cursor: cursor)
        if let kept = hasValues ? latest : latestKeys, kept.position == position,
            kept.durable == engine.durableSequence(of: store)
        {
            return kept.page
        }
        let (found, durable): (Hub.Page, UInt64)
        switch engine.page(of: store, after: cursor, limits: limits) {
        case .changes(let changes, durable: let sequence): (found, durable) = (changes, sequence)
        case .pending: return Page(text: nil, cursor: cursor.sequence)
        case .ended: return nil
        }
        let page = Page(
            text: found.changes.isEmpty ? nil : Self.encode(found, hasValues: hasValues),
            cursor: found.cursor, hasMore: found.hasMore)
        if hasValues {
            latest = (position, durable, page)
        } else {
            latestKeys = (position, durable, page)
        }
        return page
    }

    private static func encode(_ page: Hub.Page, hasValues: Bool) -> Text {
        var events = ByteBuffer()
        for (index, change) in page.changes.enumerated() {
            let hasMore = page.hasMore || index + 1 < page.changes.count
            events.writeBytes(
                hasValues
                    ? EventStreamText.change(change, hasMore: hasMore)
                    : EventStreamText.changedKey(change, hasMore: hasMore))
        }
        let count = events.readableBytes
        var framed = ByteBuffer()
        framed.writeChunk(events.readableBytesView)
        // The chunk ends with a line break of its own.
        return Text(framed: framed, events: framed.getSlice(at: framed.writerIndex - 2 - count, length: count)!)
    }
}
