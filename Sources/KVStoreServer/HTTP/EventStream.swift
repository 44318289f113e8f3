import Hummingbird
import KVStore
import NIOCore
import ServiceLifecycle
import Synchronization

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
    let channel: any Channel
    let slot: StreamSlot

    /// Runs until the reader goes, is cut off, loses its token, must start over, or the daemon
    /// stops.
    func run(_ body: RequestBody, writer: inout any ResponseBodyWriter) async throws {
        let watcher = server.keeper.watchers.add(store)
        defer { server.keeper.watchers.remove(watcher) }
        let writing = WriteMark()
        try await withGracefulShutdownHandler {
            try await body.consumeWithInboundCloseHandler { _ in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await self.beat(watcher, writing) }
                    try await tell(watcher, writing, &writer)
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
        _ watcher: WatcherRegistry.Watcher, _ writing: WriteMark,
        _ writer: inout any ResponseBodyWriter
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
                    try await writing.during { try await writer.write(EventText.reset) }
                    return
                case .page(let page):
                    if isFirst {
                        let opened = EventText.opened(epoch: epoch, cursor: position)
                        try await writing.during { try await writer.write(opened) }
                        isFirst = false
                    }
                    try await write(page.changes, writing, &writer)
                    hasWritten = hasWritten || !page.changes.isEmpty
                    position = max(position, page.cursor)
                    if !page.hasMore { break reading }
                }
            }
            if signal == .beat, !hasWritten {
                try await writing.during { try await writer.write(EventText.heartbeat) }
            }
        }
    }

    private func write(
        _ changes: [SyncChange], _ writing: WriteMark, _ writer: inout any ResponseBodyWriter
    ) async throws {
        var batch = ByteBuffer()
        for change in changes {
            batch.writeImmutableBuffer(EventText.change(change))
            if batch.readableBytes >= server.limits.eventBatchByteCount {
                let full = batch
                try await writing.during { try await writer.write(full) }
                batch = ByteBuffer()
            }
        }
        guard batch.readableBytes > 0 else { return }
        let rest = batch
        try await writing.during { try await writer.write(rest) }
    }

    /// The heartbeat; cuts off a reader that has taken nothing for too long.
    private func beat(_ watcher: WatcherRegistry.Watcher, _ writing: WriteMark) async {
        while (try? await Task.sleep(for: .milliseconds(server.limits.heartbeatMilliseconds)))
            != nil
        {
            if writing.milliseconds >= server.limits.slowReaderMilliseconds {
                server.metrics.count { $0.slowReadersCut += 1 }
                watcher.continuation.finish()
                channel.close(promise: nil)
                return
            }
            watcher.continuation.yield(.beat)
        }
    }
}

/// Since when a write has been under way.
final class WriteMark: Sendable {
    private let start = Mutex<Int64?>(nil)

    func during(_ body: () async throws -> Void) async throws {
        start.withLock { $0 = DaemonClock.monotonicMilliseconds() }
        defer { start.withLock { $0 = nil } }
        try await body()
    }

    /// How long the present write has taken; 0 when there is none.
    var milliseconds: Int64 {
        start.withLock { $0.map { DaemonClock.monotonicMilliseconds() - $0 } ?? 0 }
    }
}
