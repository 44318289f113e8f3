import Foundation
import KVStore
import NIOCore

/// The bytes of server-sent events (WHATWG HTML, section 9.2). Data is one line of JSON.
enum EventText {
    private struct Opening: Encodable {
        var cursor: UInt64
        var epoch: String
    }

    static func opened(epoch: String, cursor: UInt64) -> ByteBuffer {
        event("opened", id: nil, data: WireJSON.encode(Opening(cursor: cursor, epoch: epoch)))
    }

    static func change(_ change: SyncChange) -> ByteBuffer {
        event("change", id: change.seq, data: WireJSON.encode(change))
    }

    static let reset = event("reset", id: nil, data: Data("{}".utf8))
    static let heartbeat = ByteBuffer(string: ": hb\n\n")

    private static func event(_ name: String, id: UInt64?, data: Data) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(data.count + 64)
        buffer.writeString("event: \(name)\n")
        if let id { buffer.writeString("id: \(id)\n") }
        buffer.writeString("data: ")
        buffer.writeBytes(data)
        buffer.writeString("\n\n")
        return buffer
    }
}
