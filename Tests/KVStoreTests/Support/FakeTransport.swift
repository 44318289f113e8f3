import Foundation
import Synchronization

@testable import KVStore

/// The daemon model behind the transport protocol, for any number of stores in this process.
final class FakeTransport: SyncTransport {
    private struct State {
        var daemon = DaemonModel(epoch: "epoch 0")
        var failure: SyncTransportError?
        var streams: [UUID: AsyncThrowingStream<SyncEvent, any Error>.Continuation] = [:]
        var requestCount = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
        var isHeld = false
    }

    private let state = Mutex(State())

    var requestCount: Int { state.withLock { $0.requestCount } }

    /// Streams that somebody reads.
    var streamCount: Int { state.withLock { $0.streams.count } }

    var values: [String: Record.Content] { state.withLock { $0.daemon.values } }

    /// Requests fail with this from now on, and streams break; nil for none.
    func fail(_ failure: SyncTransportError?) {
        let streams = state.withLock { state in
            state.failure = failure
            defer { if failure != nil { state.streams = [:] } }
            return failure == nil ? [] : Array(state.streams.values)
        }
        for stream in streams { stream.finish(throwing: failure) }
    }

    /// Requests wait until `release`.
    func hold() { state.withLock { $0.isHeld = true } }

    func release() {
        let waiting = state.withLock { state in
            state.isHeld = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func sync(
        _ request: SyncRequest, store: String
    ) async throws(SyncTransportError) -> SyncResponse {
        await withCheckedContinuation { continuation in
            let goesOn = state.withLock { state in
                if state.isHeld { state.waiting.append(continuation) }
                return !state.isHeld
            }
            if goesOn { continuation.resume() }
        }
        let outcome: Result<SyncResponse, SyncTransportError> = state.withLock { state in
            state.requestCount += 1
            if let failure = state.failure { return .failure(failure) }
            state.daemon.clock = Int64(Date().timeIntervalSince1970 * 1_000)
            let before = state.daemon.seq
            let response = state.daemon.answer(request)
            for (record, seq) in state.daemon.changes(after: before) {
                for stream in state.streams.values {
                    stream.yield(.change(SyncChange(record, seq: seq)))
                }
            }
            return .success(response)
        }
        return try outcome.get()
    }

    func events(
        store: String, since: UInt64, epoch: String
    ) -> AsyncThrowingStream<SyncEvent, any Error> {
        let (stream, continuation) = AsyncThrowingStream<SyncEvent, any Error>.makeStream()
        let id = UUID()
        state.withLock { state in
            if let failure = state.failure { return continuation.finish(throwing: failure) }
            if epoch != state.daemon.epoch {
                continuation.yield(.reset)
                return
            }
            for (record, seq) in state.daemon.changes(after: since) {
                continuation.yield(.change(SyncChange(record, seq: seq)))
            }
            continuation.yield(.opened)
            state.streams[id] = continuation
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.streams[id] = nil }
        }
        return stream
    }
}
