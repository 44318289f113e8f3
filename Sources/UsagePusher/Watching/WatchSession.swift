import Synchronization

/// What a platform's watcher and the reader of its events share; safe from any thread.
final class WatchSession: Sendable {
    let paths: [WatchedPath]
    let limits: WatchLimits
    private let state = Mutex(State())
    private let ticks: AsyncStream<Void>.Continuation

    private struct State {
        var mailbox = WatchMailbox()
        var poll: Task<Void, Never>?
        var isEnded = false
    }

    /// The events of a session. `start` is called once with the session and gives back what ends
    /// the platform's part; that is called once, on any thread.
    static func events(
        for paths: [WatchedPath], limits: WatchLimits,
        start: (WatchSession) -> @Sendable () -> Void
    ) -> WatchEvents {
        let (stream, continuation) = AsyncStream<Void>.makeStream(
            bufferingPolicy: .bufferingNewest(1))
        let session = WatchSession(paths: paths, limits: limits, ticks: continuation)
        let stop = start(session)
        continuation.onTermination = { _ in
            session.end()
            stop()
        }
        return WatchEvents(session: session, ticks: stream)
    }

    private init(
        paths: [WatchedPath], limits: WatchLimits, ticks: AsyncStream<Void>.Continuation
    ) {
        self.paths = paths
        self.limits = limits
        self.ticks = ticks
    }

    func post(_ event: WatchEvent) {
        state.withLock { $0.mailbox.post(event) }
        ticks.yield()
    }

    func take() -> WatchEvent? { state.withLock { $0.mailbox.take() } }

    /// Tells the reason and compares all paths every `limits.pollInterval` from now on.
    func degrade(_ reason: String) {
        post(.degraded(reason))
        guard state.withLock({ $0.poll == nil && !$0.isEnded }) else { return }
        // Taken before the caller goes on, so that nothing falls between it and the first round.
        let baseline = signatures()
        let task = Task.detached(priority: .utility) { [self] in
            var last = baseline
            while (try? await Task.sleep(for: limits.pollInterval)) != nil {
                let next = signatures()
                let changed = next.filter { $0.value != last[$0.key] }
                last = next
                if !changed.isEmpty { post(.changed(Set(changed.keys))) }
            }
        }
        let isSurplus = state.withLock { state in
            if state.poll != nil || state.isEnded { return true }
            state.poll = task
            return false
        }
        if isSurplus { task.cancel() }
    }

    private func signatures() -> [WatchedPath: WatchSignature] {
        var budget = limits.entryCount
        var signatures: [WatchedPath: WatchSignature] = [:]
        for path in paths {
            signatures[path] = WatchSignature(of: path, depth: limits.depth, budget: &budget)
        }
        return signatures
    }

    private func end() {
        let poll = state.withLock { state in
            state.isEnded = true
            defer { state.poll = nil }
            return state.poll
        }
        poll?.cancel()
    }
}
