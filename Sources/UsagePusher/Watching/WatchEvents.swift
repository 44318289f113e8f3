import Synchronization

/// The events of one watch, in order; iterate it once. The events that occur before the next one is
/// requested are merged into one of each kind.
public typealias WatchEvents = AsyncStream<WatchEvent>

/// What a system's watcher and the reader of its events share; safe from any thread.
final class WatchSession: Sendable {
    let paths: [WatchedPath]
    let limits: WatchLimits
    private let state = Mutex(State())
    private let ticks: AsyncStream<Void>.Continuation

    private struct State {
        var pending = PendingWatchEvents()
        var poll: Task<Void, Never>?
        var isEnded = false
    }

    /// Starts a session. `start` is called once, with the session, and returns a function that
    /// stops the system's part; that is called once, on any thread.
    static func events(
        for paths: [WatchedPath], limits: WatchLimits, start: (WatchSession) -> @Sendable () -> Void
    ) -> WatchEvents {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let session = WatchSession(paths: paths, limits: limits, ticks: continuation)
        let stop = start(session)
        continuation.onTermination = { _ in
            session.end()
            stop()
        }
        return WatchEvents(unfolding: {
            var ticks = stream.makeAsyncIterator()
            while !Task.isCancelled {
                if let event = session.take() { return event }
                guard await ticks.next() != nil else { return nil }
            }
            return nil
        })
    }

    private init(paths: [WatchedPath], limits: WatchLimits, ticks: AsyncStream<Void>.Continuation) {
        self.paths = paths
        self.limits = limits
        self.ticks = ticks
    }

    func post(_ event: WatchEvent) {
        state.withLock { $0.pending.add(event) }
        ticks.yield()
    }

    private func take() -> WatchEvent? { state.withLock { $0.pending.take() } }

    /// Polls all paths from now on, for the reason. No change after this returns is missed.
    func poll(because reason: String) {
        post(.degraded(reason))
        var baseline = PolledPaths(limits: limits)
        for (root, path) in paths.enumerated() { baseline.add(path, root: root) }
        state.withLock { state in
            guard state.poll == nil, !state.isEnded else { return }
            state.poll = Task.detached(priority: .utility) { [self, baseline] in
                var polled = baseline
                // Ends when it is cancelled.
                while (try? await Task.sleep(for: limits.pollInterval)) != nil {
                    postChanges(of: polled.round())
                }
            }
        }
    }

    /// - Parameter roots: indices of paths.
    func postChanges(of roots: Set<Int>) {
        if !roots.isEmpty { post(.changed(Set(roots.map { paths[$0] }))) }
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

/// The events not requested yet, merged.
struct PendingWatchEvents: Sendable, Equatable {
    private var reasons: [String] = []
    private var seenReasons: Set<String> = []
    private var isStartPending = false
    private var changed: Set<WatchedPath> = []

    /// Different reasons that are delivered, each once.
    private static let reasonLimit = 16

    mutating func add(_ event: WatchEvent) {
        switch event {
        case .started: isStartPending = true
        case .changed(let paths): changed.formUnion(paths)
        case .degraded(let reason):
            if seenReasons.count < Self.reasonLimit, seenReasons.insert(reason).inserted {
                reasons.append(reason)
            }
        }
    }

    /// Reasons come before the start, and the start before changes.
    mutating func take() -> WatchEvent? {
        if !reasons.isEmpty { return .degraded(reasons.removeFirst()) }
        if isStartPending {
            isStartPending = false
            return .started
        }
        guard !changed.isEmpty else { return nil }
        defer { changed = [] }
        return .changed(changed)
    }
}
