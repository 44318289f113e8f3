import KVStoreCore
import Synchronization

/// Executes what a replica requires through a real transport.
///
/// Each `Ready` passes through one queue, in the order in which the replica returned them.
final class SyncDriver: SyncDriving {
    private enum Activity: Hashable { case round, stream, timer }

    private struct State {
        var waiters: [UInt64: OneShot<Ready.Completion>] = [:]
        /// What is under way; a new task of a kind cancels the former one.
        var tasks: [Activity: Task<Void, Never>] = [:]
        var running: Task<Void, Never>?
        var isStopped = false
    }

    private let transport: any SyncTransport
    private let storeName: String
    private let monotonicMilliseconds: @Sendable () -> Int64
    private let state = Mutex(State())
    private let queue: AsyncStream<Ready>
    private let enqueuing: AsyncStream<Ready>.Continuation

    init(transport: any SyncTransport, storeName: String, monotonicMilliseconds: @escaping @Sendable () -> Int64) {
        self.transport = transport
        self.storeName = storeName
        self.monotonicMilliseconds = monotonicMilliseconds
        (queue, enqueuing) = AsyncStream.makeStream()
    }

    /// Calls of `synchronize` that have not returned.
    var waiterCount: Int { state.withLock { $0.waiters.count } }

    func enqueue(_ ready: Ready) { enqueuing.yield(ready) }

    func start(_ replica: LocalReplica) {
        let task = Task { [weak self, queue] in
            for await ready in queue {
                guard let self else { return }
                var execution = Execution(driver: self, replica: replica)
                ready.execute(on: &execution)
            }
        }
        state.withLock { $0.running = task }
    }

    func stop() {
        enqueuing.finish()
        let (tasks, waiters) = state.withLock { state in
            state.isStopped = true
            defer {
                state.tasks = [:]
                state.waiters = [:]
            }
            return (Array(state.tasks.values) + (state.running.map { [$0] } ?? []), state.waiters)
        }
        for task in tasks { task.cancel() }
        for (id, waiter) in waiters {
            waiter.fulfill(Ready.Completion(waiter: id, outcome: .failure(.unreachable("the store was closed"))))
        }
    }

    func requestRound(_ replica: LocalReplica) { try? replica.synchronize { _ in } }

    func synchronize(_ replica: LocalReplica, onlySends: Bool) async throws(StoreError) -> SyncReport {
        let completion = OneShot<Ready.Completion>()
        var id: UInt64 = 0
        try replica.synchronize(onlySends: onlySends) { waiter in
            id = waiter
            state.withLock { $0.waiters[waiter] = completion }
        }
        if state.withLock({ $0.isStopped }) { stop() }
        guard let outcome = await completion.value()?.outcome else {
            state.withLock { state in _ = state.waiters.removeValue(forKey: id) }
            throw StoreError(
                .cancelled, operation: "synchronize", subject: "store \(storeName)", reason: "the task was cancelled")
        }
        do throws(SyncTransportError) { return try outcome.get() } catch {
            throw StoreError(error, operation: "synchronize", store: storeName)
        }
    }

    // MARK: - Execution

    private struct Execution: ReadyExecutor {
        let driver: SyncDriver
        let replica: LocalReplica

        /// The store delivers notifications.
        func notify(_ change: StoreChange) {}

        func closeStream() { driver.cancel(.stream) }

        func openStream(id: UInt64, since: SyncCursor) {
            driver.run(.stream) { [driver, replica] in
                await driver.follow(id, since: since, for: replica)
            }
        }

        func send(_ outgoing: Ready.Outgoing, mustSync: Bool) {
            driver.run(.round) { [driver, replica] in
                await driver.send(outgoing, mustSync: mustSync, for: replica)
            }
        }

        func wake(at milliseconds: Int64) {
            let wait = max(0, milliseconds - driver.monotonicMilliseconds())
            driver.run(.timer) { [replica] in
                guard (try? await Task.sleep(for: .milliseconds(wait))) != nil else { return }  // cancelled
                replica.deliver(.woke)
            }
        }

        func complete(_ completion: Ready.Completion) {
            driver.state.withLock { $0.waiters.removeValue(forKey: completion.waiter) }?.fulfill(completion)
        }
    }

    private func run(_ activity: Activity, _ body: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            state.tasks[activity]?.cancel()
            state.tasks[activity] = state.isStopped ? nil : Task { await body() }
        }
    }

    private func cancel(_ activity: Activity) {
        state.withLock { $0.tasks.removeValue(forKey: activity) }?.cancel()
    }

    private func send(_ outgoing: Ready.Outgoing, mustSync: Bool, for replica: LocalReplica) async {
        let result: Result<SyncResponse, SyncTransportError>
        do {
            if mustSync { try replica.flush() }
            result = .success(try await transport.sync(outgoing.request, store: storeName))
        } catch let error as SyncTransportError {
            result = .failure(error)
        } catch {
            result = .failure(.unreachable("\(error)"))
        }
        replica.deliver(.answered(id: outgoing.id, result))
    }

    private func follow(_ id: UInt64, since: SyncCursor, for replica: LocalReplica) async {
        do {
            for try await event in transport.events(store: storeName, since: since) {
                guard replica.deliver(.stream(id: id, event)) else { return }
            }
            replica.deliver(.streamEnded(id: id, nil))
        } catch {
            replica.deliver(.streamEnded(id: id, error as? SyncTransportError ?? .unreachable("\(error)")))
        }
    }
}
