import Foundation
import KVStore

/// Items of the daemon's event stream as events of the replica. `docs/protocol.md` is normative.
enum SyncEventCodec {
    /// Nil for an item that says nothing to a replica.
    static func event(_ item: ServerSentItem) throws(SyncTransportError) -> SyncEvent? {
        switch item {
        case .comment: return .heartbeat
        case .retry: return nil
        case .event(let event):
            switch event.name {
            case "opened": return .opened
            case "reset": return .reset
            case "change": return .change(try change(event))
            // Names that a newer daemon may bring.
            default: return nil
            }
        }
    }

    private static func change(_ event: ServerSentEvent) throws(SyncTransportError) -> SyncChange {
        var change: SyncChange
        do {
            change = try JSONDecoder().decode(SyncChange.self, from: event.data)
        } catch {
            throw .malformed("a change in the stream: \(DecodingFailure.words(error))")
        }
        if change.seq == nil { change.seq = event.lastID.flatMap { UInt64($0) } }
        guard change.seq != nil, change.record != nil else {
            throw .malformed("a change in the stream has no number, no stamp or no value")
        }
        return change
    }
}
