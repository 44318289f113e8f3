import KVStore
import KVStoreCore
import Synchronization

extension SimulatedCloud {
    /// Runs until nothing is under way: everything that could be sent was delivered and answered, everything is
    /// durable, and all observers have been called. Virtual time advances as needed.
    ///
    /// An offline device with pending changes counts as at rest. Tasks of the main actor that were started before this,
    /// such as readers of `changes` or of notifications, have begun before anything happens, so that they miss nothing.
    /// Those that read `changes` have read all when this returns; other readers run when Swift next schedules them.
    /// Tasks that sleep on `clock` are woken at their time, as they may write then.
    ///
    /// It always returns. Code that responds to each notification with a change that causes another one is stopped by
    /// the first of three limits: virtual time, real time, and 10,000 writes of one key on one device.
    ///
    /// ```swift
    /// phone.store.set("dark", forKey: "theme")
    /// try await cloud.settle()
    /// #expect(mac.store.string(forKey: "theme") == "dark")
    /// ```
    ///
    /// - Parameters:
    ///   - limit: the maximum virtual time.
    ///   - includesSleepers: whether to wait for tasks that sleep on `clock`. Without them, an app's periodic timer
    ///     does not keep the cloud from settling; they still wake when their time comes.
    ///   - timeout: the maximum real time. An observer that takes longer is left running, and whatever runs the cloud
    ///     next waits for it.
    /// - Throws: `CloudError.stillMoving` at a limit, and when the calling task is cancelled before the end;
    ///   `CloudError.held` if everything left waits for `release()`; `CloudError.droppedWrites` in a strict cloud;
    ///   `CloudError.differsFromRecord` and `CloudError.recordFailed` in one with a record.
    public func settle(
        within limit: Duration = .seconds(3_600), includesSleepers: Bool = true, timeout: Duration = .seconds(30)
    ) async throws(CloudError) {
        try await bounded(by: timeout) { cloud, deadline throws(CloudError) in
            _ = try await cloud.run(within: limit, deadline, includesSleepers: includesSleepers, until: { false })
            let held = cloud.heldMessages
            if !held.isEmpty { throw .held(what: held) }
            cloud.record("settled")
            try cloud.recorder?.check()
            let dropped = cloud.state.withLock { state in
                defer { state.droppedWrites = [] }
                return state.droppedWrites
            }
            if !dropped.isEmpty { throw .droppedWrites(dropped) }
        }
    }

    /// Whether `settle` throws if a device has dropped a write past a quota, as Apple's class does with no more than a
    /// notification. The error names the devices, keys and limits.
    ///
    /// ```swift
    /// cloud.isStrict = true
    /// ```
    public var isStrict: Bool {
        get { state.withLock { $0.isStrict } }
        set {
            let wasStrict = state.withLock { state in
                defer { state.isStrict = newValue }
                return state.isStrict
            }
            if newValue != wasStrict { record("settings") }
        }
    }

    private static let droppedWriteCount = 100

    func recordDroppedWrite(_ error: StoreError, on machine: Machine) {
        record("violation", of: machine.name) { event in
            event.store = machine.options.storeName
            (event.call, event.detail) = (error.operation, "\(error.subject): \(error.reason)")
        }
        state.withLock { state in
            guard state.isStrict, state.droppedWrites.count < Self.droppedWriteCount else { return }
            state.droppedWrites.append("\(machine.name): \(error)")
        }
    }

    /// Runs until a condition holds, and no further: other messages may still be under way. If nothing is, tasks get a
    /// second of real time to begin something.
    ///
    /// ```swift
    /// try await cloud.run { phone.accountState == .joined }
    /// ```
    ///
    /// - Parameters:
    ///   - limit: the maximum virtual time.
    ///   - timeout: the maximum real time, as of `settle`.
    ///   - condition: evaluated before the first event and after each one.
    /// - Throws: `CloudError.conditionNotMet` if nothing is under way that could make it hold;
    ///   `CloudError.stillMoving` at a limit, and when the calling task is cancelled before the end;
    ///   `CloudError.differsFromRecord` and `CloudError.recordFailed` in a cloud with a record.
    public func run(
        within limit: Duration = .seconds(3_600), timeout: Duration = .seconds(30),
        until condition: @escaping @Sendable () -> Bool
    ) async throws(CloudError) {
        try await bounded(by: timeout) { cloud, deadline throws(CloudError) in
            while true {
                let isMet = try await cloud.run(within: limit, deadline, includesSleepers: true, until: condition)
                if isMet {
                    cloud.record("conditionMet")
                    return try cloud.recorder?.check() ?? ()
                }
                guard await cloud.tasksAct(or: condition) else {
                    if Task.isCancelled { throw cloud.stillMoving(after: deadline.limit) }
                    throw .conditionNotMet(held: cloud.heldMessages)
                }
            }
        }
    }

    private var heldMessages: [String] {
        machines.flatMap { $0.network.withLock { $0.heldMessages.map(\.description) } }
    }

    /// The real time at which a run has to end.
    private struct Deadline {
        let timeout: Duration
        let instant: ContinuousClock.Instant

        init(after timeout: Duration) {
            self.timeout = timeout
            instant = .now + timeout
        }

        /// Why the running task was cancelled.
        var limit: CloudError.Limit { .now >= instant ? .realTime(timeout) : .cancellation }
    }

    private typealias Body = @Sendable (SimulatedCloud, Deadline) async throws(CloudError) -> Void

    /// Cancels the body at the deadline. One that then hangs in an observer is left to itself.
    private func bounded(by timeout: Duration, _ body: @escaping Body) async throws(CloudError) {
        let outcome = Outcome<Result<Void, CloudError>>()
        let deadline = Deadline(after: timeout)
        // Weak, so that the cloud is not kept after the outcome.
        let running = Task { [weak self] in
            let result = await self?.result(of: body, deadline)
            outcome.finish(result ?? .success(()))
        }
        let watchdog = Task { [weak self] in
            guard (try? await Task.sleep(for: timeout)) != nil else { return }  // cancelled
            running.cancel()
            guard (try? await Task.sleep(for: .seconds(1))) != nil, let self else { return }  // cancelled
            outcome.finish(.failure(stillMoving(after: .realTime(timeout), isStuck: true)))
        }
        defer { watchdog.cancel() }
        try await withTaskCancellationHandler {
            await outcome.value
        } onCancel: {
            running.cancel()
        }.get()
    }

    private func result(of body: Body, _ deadline: Deadline) async -> Result<Void, CloudError> {
        do throws(CloudError) { return .success(try await body(self, deadline)) } catch {
            return .failure(error)
        }
    }

    /// Returns whether the condition is met; if not, the cloud is at rest.
    private func run(
        within limit: Duration, _ deadline: Deadline, includesSleepers: Bool, until condition: @Sendable () -> Bool
    ) async throws(CloudError) -> Bool {
        func isMoving() -> Bool {
            agenda.contains { $0.isUnderWay && (includesSleepers || !$0.isWake) }
        }
        let end = virtualClock.milliseconds + max(0, limit.milliseconds)
        state.withLock { $0.writes = WriteCounts(since: now) }
        while true {
            guard await drainAll() else { throw endless(deadline) }
            try recorder?.check()
            if condition() { return true }
            guard isMoving() else { return false }
            repeat {
                guard !Task.isCancelled else { throw stillMoving(after: deadline.limit) }
                switch await step(through: end) {
                case .performed: break
                case .endless: throw endless(deadline)
                case .nothingDue: throw stillMoving(after: .virtualTime(limit))
                }
                await letTasksRun(onlyAfterCompletions: true)
                try recorder?.check()
                let greatest = state.withLock { $0.writes.greatest }
                guard greatest < WriteCounts.limit else { throw endless(deadline) }
                if condition() { return true }
            } while isMoving()
        }
    }

    private func endless(_ deadline: Deadline) -> CloudError {
        stillMoving(after: Task.isCancelled ? deadline.limit : .writes(WriteCounts.limit))
    }
}
