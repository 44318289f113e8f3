import Foundation
import Hummingbird
import KVStoreCore
import KVStoreWire
import NIOCore
import ServiceLifecycle

/// The live stream of one reader of a store.
///
/// It continues from its cursor at every signal, so changes that the reader has not received yet cost
/// no memory, and a key that changed several times is sent once, with its current record.
/// Invariant: sequence numbers ascend, and everything up to the last one sent was sent or is
/// superseded.
struct EventStream: Sendable {
    let server: StoreServer
    let device: Device
    let store: StoreID
    let start: Cursor
    let slot: StreamSlot

    /// Returns when the reader disconnects, the device loses its access, the cursor is reset, or the
    /// server stops.
    func run(_ body: RequestBody, writer: inout any ResponseBodyWriter) async throws {
        let watcher = server.engine.watchers.add(store)
        defer { watcher.continuation.finish() }
        try await withGracefulShutdownHandler {
            try await body.consumeWithInboundCloseHandler { _ in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await sendHeartbeats(to: watcher) }
                    try await send(to: watcher, &writer)
                    group.cancelAll()
                }
            } onInboundClosed: {
                watcher.continuation.finish()
            }
        } onGracefulShutdown: {
            watcher.continuation.finish()
        }
        try await writer.finish(nil)
    }

    /// Sends the changes after the cursor at every signal; returns when the stream is over.
    func send(
        to watcher: Watcher, _ writer: inout any ResponseBodyWriter
    ) async throws {
        var cursor = start
        var isOpened = false
        watcher.continuation.yield(.changes)
        for await signal in watcher.signals {
            var isSilent = true
            var hasMore = true
            while hasMore {
                // Checked for every page: a slow reader of a large store may take minutes.
                guard server.devices.isCurrent(device) else { return }
                guard let page = try await server.engine.page(of: store, after: cursor) else {
                    return try await writer.write(ByteBuffer(bytes: EventStreamText.reset))
                }
                if !isOpened {
                    try await writer.write(ByteBuffer(bytes: EventStreamText.opened(at: cursor)))
                    isOpened = true
                }
                try await write(page.changes, &writer)
                isSilent = isSilent && page.changes.isEmpty
                cursor.sequence = max(cursor.sequence, page.cursor)
                hasMore = page.hasMore
            }
            if signal == .heartbeat, isSilent {
                try await writer.write(ByteBuffer(bytes: EventStreamText.heartbeat))
            }
        }
    }

    private func write(
        _ changes: [SequencedRecord], _ writer: inout any ResponseBodyWriter
    ) async throws {
        var batch = ByteBuffer()
        for change in changes {
            batch.writeBytes(EventStreamText.change(change))
            if batch.readableBytes >= server.limits.eventBatchByteCount {
                try await writer.write(batch)
                batch = ByteBuffer()
            }
        }
        if batch.readableBytes > 0 { try await writer.write(batch) }
    }

    private func sendHeartbeats(to watcher: Watcher) async {
        while (try? await Task.sleep(for: .milliseconds(server.limits.heartbeatMilliseconds)))
            != nil
        {
            watcher.continuation.yield(.heartbeat)
        }
    }
}
