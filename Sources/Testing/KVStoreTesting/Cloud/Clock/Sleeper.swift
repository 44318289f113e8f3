import Synchronization

/// A task that sleeps on a cloud's clock.
final class Sleeper: Sendable {
    private enum State {
        case new
        case asleep(CheckedContinuation<Void, any Error>)
        case over
    }

    private let state = Mutex(State.new)
    /// Finished by the task itself, once it runs again.
    let hasResumed = Outcome<Void>()

    var isAsleep: Bool { state.withLock { if case .asleep = $0 { true } else { false } } }

    /// Returns whether it sleeps now; otherwise it was cancelled, and the continuation has been resumed.
    func sleep(_ continuation: CheckedContinuation<Void, any Error>) -> Bool {
        let isNew = state.withLock { state in
            guard case .new = state else { return false }
            state = .asleep(continuation)
            return true
        }
        if !isNew { continuation.resume(throwing: CancellationError()) }
        return isNew
    }

    /// Returns whether it was asleep.
    func wake() -> Bool {
        let continuation = end()
        continuation?.resume()
        return continuation != nil
    }

    func cancel() { end()?.resume(throwing: CancellationError()) }

    private func end() -> CheckedContinuation<Void, any Error>? {
        state.withLock { state in
            defer { state = .over }
            return if case .asleep(let continuation) = state { continuation } else { nil }
        }
    }
}

extension SimulatedCloud {
    var hasCompletions: Bool { state.withLock { $0.hasSleepers && $0.hasCompletions } }

    /// Gives tasks that may use the clock a chance to act before time goes on.
    ///
    /// Ends soon after they have, once a hundred yields in a row have shown no activity. Tasks that the cloud cannot
    /// see get at least ten milliseconds, and at least five thousand yields: on a busy machine, milliseconds pass
    /// before a task runs at all.
    func letTasksRun(onlyAfterCompletions: Bool = false) async {
        let (isDue, first) = state.withLock { state in
            defer { state.hasCompletions = false }
            return (state.hasSleepers && (state.hasCompletions || !onlyAfterCompletions), state.activity)
        }
        guard isDue else { return }
        await letTasksRun(since: first)
    }

    /// Lets tasks of the main actor that were started or resumed before this run, such as readers of notifications. A
    /// main thread that is blocked is not waited for.
    func letMainActorRun() async {
        let hasRun = Outcome<Void>()
        Task { @MainActor in hasRun.finish(()) }
        let limit = Task {
            try? await Task.sleep(for: .milliseconds(100))  // Ends early when it has run.
            hasRun.finish(())
        }
        await hasRun.value
        limit.cancel()
    }

    /// Waits until a task has used the cloud or the condition holds; false if neither happens within a second.
    func tasksAct(or condition: () -> Bool) async -> Bool {
        let first = state.withLock { $0.activity }
        let end = ContinuousClock.now + .seconds(1)
        while !condition(), state.withLock({ $0.activity }) == first {
            guard .now < end, !Task.isCancelled else { return false }
            await Task.yield()
        }
        return true
    }

    private func letTasksRun(since first: Int) async {
        let end = ContinuousClock.now + .milliseconds(10)
        var (latest, idleCount, yieldCount) = (first, 0, 0)
        while idleCount < 100 || latest == first {
            guard yieldCount < 5_000 || .now < end, !Task.isCancelled else { return }
            await Task.yield()
            yieldCount += 1
            let activity = state.withLock { $0.activity }
            idleCount = activity == latest ? idleCount + 1 : 0
            latest = activity
        }
    }
}
