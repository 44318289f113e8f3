package import Essentials
package import KVStoreCore

/// Writes the live stream of a store as server-sent events (WHATWG HTML, section 9.2). Data is one line of JSON.
package enum EventStreamText {
    private struct Opening: Encodable {
        var cursor: UInt64
        var epoch: EpochID
    }

    package static func opened(at cursor: Cursor) -> Data {
        event(
            "opened", data: WireJSON.encode(Opening(cursor: cursor.sequence, epoch: cursor.epoch)))
    }

    /// The event's id is the sequence number.
    package static func change(_ entry: SequencedRecord) -> Data {
        event("change\nid: \(entry.sequence)", data: WireJSON.bytes(of: entry))
    }

    /// The same without a value: its `byteCount` instead.
    package static func changedKey(_ entry: SequencedRecord) -> Data {
        guard case .value = entry.record.content else { return change(entry) }
        return event(
            "change\nid: \(entry.sequence)", data: WireJSON.bytes(of: KeySummary(entry)))
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

extension SyncEvent {
    /// Nil for an event of a later version of the protocol.
    package init?(_ item: ServerSentItem) throws(WireError) {
        switch item {
        case .comment: self = .heartbeat
        case .event("opened", _): self = .opened
        case .event("reset", _): self = .reset
        case .event("change", let data): self = .change(try WireJSON.decode(from: data))
        case .event: return nil
        }
    }
}
