import Hummingbird
import KVStore
import NIOCore
import ServiceLifecycle

/// One live reader of a store.
///
/// It holds a place in the store's order and reads on from there whenever something has happened,
/// so what it has not taken yet costs nothing, and a key that changed twice meanwhile is told once,
/// as it is now.
/// Invariant: sequence numbers ascend, and everything up to the last one told has been told or is
/// outdated.
struct EventStream: Sendable {
    let server: StoreServer
    let device: Device
    let store: StoreID
    let epoch: String
    let since: UInt64
    let slot: StreamSlot

    /// Runs until the reader goes, is cut off, loses its token, must start over, or the daemon
    /// stops.
    func run(_ body: RequestBody, writer: inout any ResponseBodyWriter) async throws {
        let watcher = server.keeper.watchers.add(store)
        defer { server.keeper.watchers.remove(watcher) }
        try await withGracefulShutdownHandler {
            try await body.consumeWithInboundCloseHandler { _ in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await beat(watcher) }
                    try await tell(watcher, &writer)
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

    /// Tells what stands after the place, and goes on with every signal. Returns when the stream is over.
    func tell(
        _ watcher: WatcherRegistry.Watcher, _ writer: inout any ResponseBodyWriter
    ) async throws {
        var position = since
        var isFirst = true
        // The first look, before anything has happened.
        watcher.continuation.yield(.news)
        for await signal in watcher.signals {
            var hasWritten = false
            reading: while true {
                // For every page: a slow reader of a large store may be at one signal for minutes.
                guard server.devices.isCurrent(device) else { return }
                switch try await server.keeper.news(of: store, epoch: epoch, after: position) {
                case .reset, .unknownStore:
                    try await writer.write(EventText.reset)
                    return
                case .page(let page):
                    if isFirst {
                        try await writer.write(
                            EventText.opened(epoch: epoch, cursor: position))
                        isFirst = false
                    }
                    try await write(page.changes, &writer)
                    hasWritten = hasWritten || !page.changes.isEmpty
                    position = max(position, page.cursor)
                    if !page.hasMore { break reading }
                }
            }
            if signal == .beat, !hasWritten {
                try await writer.write(EventText.heartbeat)
            }
        }
    }

    private func write(
        _ changes: [SyncChange], _ writer: inout any ResponseBodyWriter
    ) async throws {
        var batch = ByteBuffer()
        for change in changes {
            batch.writeImmutableBuffer(EventText.change(change))
            if batch.readableBytes >= server.limits.eventBatchByteCount {
                try await writer.write(batch)
                batch = ByteBuffer()
            }
        }
        guard batch.readableBytes > 0 else { return }
        try await writer.write(batch)
    }

    private func beat(_ watcher: WatcherRegistry.Watcher) async {
        while (try? await Task.sleep(for: .milliseconds(server.limits.heartbeatMilliseconds)))
            != nil
        {
            watcher.continuation.yield(.beat)
        }
    }
}
