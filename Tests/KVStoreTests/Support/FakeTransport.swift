import Foundation
import KVStoreCore
import Synchronization
import StoreTestSupport

@testable import KVStoreEssentials

/// A hub in memory behind the transport protocol, for any number of replicas of one store. Its pages are small.
final class FakeTransport: SyncTransport {
    private struct State {
        var hub = Hub(epoch: "epoch 0")
        var failure: SyncTransportError?
        var streams: [UUID: AsyncThrowingStream<SyncEvent, any Error>.Continuation] = [:]
        var requestCount = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
        var isHeld = false
    }

    /// Keeps the changes of streams in order. They are yielded outside of `state`, which a cancelled reader's
    /// termination takes.
    private let delivery = Mutex(())
    private let state = Mutex(State())

    var requestCount: Int { state.withLock { $0.requestCount } }

    /// Requests that wait for `release`.
    var heldCount: Int { state.withLock { $0.waiting.count } }

    /// Streams that are being read.
    var streamCount: Int { state.withLock { $0.streams.count } }

    var values: [StoreKey: StoreRecord.Content] {
        state.withLock { state in
            state.hub.entries.mapValues(\.record.content).filter { !$0.value.isTombstone }
        }
    }

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

    func sync(_ request: SyncRequest, store: String) async throws(SyncTransportError) -> SyncResponse {
        await withCheckedContinuation { continuation in
            let proceeds = state.withLock { state in
                if state.isHeld { state.waiting.append(continuation) }
                return !state.isHeld
            }
            if proceeds { continuation.resume() }
        }
        let outcome: Result<SyncResponse, SyncTransportError> = delivery.withLock { _ in
            var accepted: [SequencedRecord] = []
            var streams: [AsyncThrowingStream<SyncEvent, any Error>.Continuation] = []
            let outcome: Result<SyncResponse, SyncTransportError> = state.withLock { state in
                state.requestCount += 1
                if let failure = state.failure { return .failure(failure) }
                let now = Instant.now().wall
                let plan = state.hub.plan(request.changes, now: now)
                state.hub.commit(plan)
                accepted = plan.accepted
                streams = Array(state.streams.values)
                let page = PageLimits(byteCount: 1_000_000, recordCount: 3)
                return .success(state.hub.answer(request, plan: plan, now: now, page: page))
            }
            for change in accepted {
                for stream in streams { stream.yield(.change(change)) }
            }
            return outcome
        }
        return try outcome.get()
    }

    func events(store: String, since: SyncCursor) -> AsyncThrowingStream<SyncEvent, any Error> {
        let (stream, continuation) = AsyncThrowingStream<SyncEvent, any Error>.makeStream()
        let id = UUID()
        state.withLock { state in
            if let failure = state.failure { return continuation.finish(throwing: failure) }
            if state.hub.endsStream(at: since) {
                continuation.yield(.reset)
                return
            }
            let page = state.hub.page(after: since.sequence, through: state.hub.sequence)
            for change in page.changes { continuation.yield(.change(change)) }
            continuation.yield(.opened)
            state.streams[id] = continuation
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.streams[id] = nil }
        }
        return stream
    }
}
