import Foundation
import Synchronization

/// The driver of a real transport.
///
/// Effects come through one queue, in the order in which the replica gave them.
final class SyncDriver: SyncDriving {
    private struct Waiting {
        var continuations: [UInt64: CheckedContinuation<SyncOutcome, Never>] = [:]
        var lastID: UInt64 = 0
        var isStopped = false
    }

    /// An effect with the stream that the replica listened to when it asked for it.
    private struct Numbered {
        var effect: Effect
        var stream: UInt64
    }

    private let transport: any SyncTransport
    private let storeName: String
    private let monotonicMilliseconds: @Sendable () -> Int64
    private let waiting = Mutex(Waiting())
    private let effects: AsyncStream<Numbered>
    private let queue: AsyncStream<Numbered>.Continuation
    /// The newest stream that the replica has asked for or ended, changed under its lock only.
    private let newestStream = Atomic<UInt64>(0)
    private let running = Mutex<Task<Void, Never>?>(nil)

    init(
        transport: any SyncTransport, storeName: String,
        monotonicMilliseconds: @escaping @Sendable () -> Int64
    ) {
        self.transport = transport
        self.storeName = storeName
        self.monotonicMilliseconds = monotonicMilliseconds
        (effects, queue) = AsyncStream.makeStream()
    }

    /// Never blocks; to be called under the replica's lock.
    func enqueue(_ effect: Effect) {
        switch effect {
        case .openStream, .closeStream: newestStream.add(1, ordering: .relaxed)
        default: break
        }
        queue.yield(Numbered(effect: effect, stream: newestStream.load(ordering: .relaxed)))
    }

    func start(_ replica: LocalReplica) {
        running.withLock { running in
            running = Task { [weak self, effects] in
                let calls = Calls()
                for await next in effects {
                    guard let self else { break }
                    carryOut(next, for: replica, calls: calls)
                }
                calls.cancelAll()
            }
        }
    }

    /// Ends what is under way; those who wait are told that it failed.
    func stop() {
        queue.finish()
        running.withLock { $0?.cancel() }
        let left = waiting.withLock { waiting in
            waiting.isStopped = true
            defer { waiting.continuations = [:] }
            return Array(waiting.continuations.values)
        }
        for continuation in left {
            continuation.resume(returning: .failed(.unreachable("the store was closed")))
        }
    }

    func requestRound(_ replica: LocalReplica) {
        // A waiter of its own number, for which nobody has a continuation.
        let id = waiting.withLock { waiting in
            waiting.lastID += 1
            return waiting.lastID
        }
        try? replica.handle(.synchronize(waiter: id))
    }

    /// Waits for a whole round trip that begins now.
    func synchronize(_ replica: LocalReplica) async throws(StoreError) -> SyncReport {
        let outcome = await withCheckedContinuation { continuation in
            let id = waiting.withLock { waiting -> UInt64? in
                guard !waiting.isStopped else { return nil }
                waiting.lastID += 1
                waiting.continuations[waiting.lastID] = continuation
                return waiting.lastID
            }
            guard let id else {
                continuation.resume(returning: .failed(.unreachable("the store is closed")))
                return
            }
            do throws(StoreError) {
                try replica.handle(.synchronize(waiter: id))
            } catch {
                finish(id, .failed(.unreachable(error.description)))
            }
        }
        switch outcome {
        case .synchronized(let report): return report
        case .failed(let error):
            throw StoreError(error, operation: "synchronize", store: storeName)
        }
    }

    private func finish(_ waiter: UInt64, _ outcome: SyncOutcome) {
        waiting.withLock { $0.continuations.removeValue(forKey: waiter) }?
            .resume(returning: outcome)
    }

    private func carryOut(_ next: Numbered, for replica: LocalReplica, calls: Calls) {
        switch next.effect {
        case .append, .notify: break
        case .send(let request): calls.run(.round) { await self.send(request, for: replica) }
        case .openStream(let since, let epoch):
            calls.run(.stream) {
                await self.follow(next.stream, since: since, epoch: epoch, for: replica)
            }
        case .closeStream: calls.cancel(.stream)
        case .wake(let moment):
            let wait = max(0, moment - monotonicMilliseconds())
            calls.run(.timer) {
                guard (try? await Task.sleep(for: .milliseconds(wait))) != nil else { return }
                self.tell(replica, .woke)
            }
        case .finish(let waiter, let outcome): finish(waiter, outcome)
        }
    }

    private func send(_ request: SyncRequest, for replica: LocalReplica) async {
        do throws(StoreError) {
            try replica.flush()
        } catch {
            tell(replica, .failed(.unreachable(error.description)))
            return
        }
        do throws(SyncTransportError) {
            let response = try await transport.sync(request, store: storeName)
            tell(replica, .answered(response))
        } catch {
            tell(replica, .failed(error))
        }
    }

    private func follow(
        _ stream: UInt64, since: UInt64, epoch: String, for replica: LocalReplica
    ) async {
        do {
            for try await event in transport.events(store: storeName, since: since, epoch: epoch) {
                // What comes after a change that was not taken in would leave a gap.
                guard tell(replica, .stream(event), of: stream) else { return }
            }
            tell(replica, .streamEnded(nil), of: stream)
        } catch {
            tell(
                replica,
                .streamEnded(error as? SyncTransportError ?? .unreachable("\(error)")), of: stream)
        }
    }

    /// Tells the replica, unless that comes of a stream that it has ended; returns whether it has taken it in.
    @discardableResult
    private func tell(
        _ replica: LocalReplica, _ event: Event, of stream: UInt64? = nil
    ) -> Bool {
        let telling = replica.tell(event) {
            stream == nil || self.newestStream.load(ordering: .relaxed) == stream
        }
        guard let again = telling.again else { return telling.isTaken }
        Task { [weak self, weak replica] in
            try? await Task.sleep(for: .milliseconds(Backoff.greatestMilliseconds))
            guard let self, let replica else { return }
            tell(replica, again, of: stream)
        }
        return telling.isTaken
    }
}

/// The tasks under way: one of a kind, a new one ending the former.
private final class Calls: Sendable {
    enum Kind: Hashable { case round, stream, timer }

    private let tasks = Mutex<[Kind: Task<Void, Never>]>([:])

    func run(_ kind: Kind, _ body: @escaping @Sendable () async -> Void) {
        tasks.withLock { tasks in
            tasks[kind]?.cancel()
            tasks[kind] = Task { await body() }
        }
    }

    func cancel(_ kind: Kind) {
        tasks.withLock { $0.removeValue(forKey: kind)?.cancel() }
    }

    func cancelAll() {
        tasks.withLock { tasks in
            for task in tasks.values { task.cancel() }
            tasks = [:]
        }
    }
}
