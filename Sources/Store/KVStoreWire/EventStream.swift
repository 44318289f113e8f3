package import Essentials
package import KVStoreCore

/// Writes the live stream of a store as server-sent events (WHATWG HTML, section 9.2). Data is one line of JSON.
package enum EventStreamText {
    private struct Opening: Encodable {
        var cursor: UInt64
        var epoch: EpochID
    }

    package static func opened(at cursor: SyncCursor) -> Data {
        event("opened", data: WireJSON.encode(Opening(cursor: cursor.sequence, epoch: cursor.epoch)))
    }

    /// The event's id is the sequence number.
    ///
    /// - Parameter hasMore: whether the next event belongs together with this one.
    package static func change(_ entry: SequencedRecord, hasMore: Bool = false) -> Data {
        var text = JSONText(reserving: 256)
        entry.record.write(to: &text, sequence: entry.sequence, hasMore: hasMore)
        return event("change\nid: \(entry.sequence)", data: text.bytes)
    }

    /// The same without a value: its `byteCount` instead.
    package static func changedKey(_ entry: SequencedRecord, hasMore: Bool = false) -> Data {
        guard case .value = entry.record.content else { return change(entry, hasMore: hasMore) }
        var text = JSONText(reserving: 256)
        KeySummary(entry).write(to: &text, hasMore: hasMore)
        return event("change\nid: \(entry.sequence)", data: text.bytes)
    }

    package static let reset = event("reset", data: Data("{}".utf8))
    package static let heartbeat = Data(": hb\n\n".utf8)

    package static func event(_ name: String, data: some Collection<UInt8>) -> Data {
        var text = Data()
        text.reserveCapacity(data.count + 64)
        text.append(contentsOf: "event: \(name)\ndata: ".utf8)
        text.append(contentsOf: data)
        text.append(contentsOf: "\n\n".utf8)
        return text
    }
}

/// Decodes the items of a live stream. Changes that belong together are one event, as far as they fit into a page and
/// no heartbeat interrupts them.
package struct SyncEventDecoder: Sendable {
    private struct Change: Decodable {
        var change: SequencedRecord
        var hasMore: Bool

        private enum CodingKeys: CodingKey { case more }

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            change = try SequencedRecord(from: decoder)
            hasMore = try fields.decodeIfPresent(Bool.self, forKey: .more) ?? false
        }
    }

    private var changes: [SequencedRecord] = []
    private var byteCount = 0

    package init() {}

    /// Nil for an event of a later version of the protocol, and for a change that is followed by others.
    package mutating func event(_ item: ServerSentItem) throws(WireError) -> SyncEvent? {
        switch item {
        case .comment: return changes.isEmpty ? .heartbeat : takeChanges()
        case .event("opened", _): return .opened
        case .event("reset", _): return .reset
        case .event("change", let data):
            let change: Change = try WireJSON.decode(from: data)
            changes.append(change.change)
            byteCount += data.count
            let limits = WireLimits.page
            if change.hasMore, changes.count < limits.recordCount, byteCount < limits.byteCount {
                return nil
            }
            return takeChanges()
        case .event: return nil
        }
    }

    private mutating func takeChanges() -> SyncEvent {
        defer { (changes, byteCount) = ([], 0) }
        return .changes(changes)
    }
}
