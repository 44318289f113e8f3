/// The events of one watcher, in order; iterate it once.
///
/// What happens while nobody asks is merged into one pending event of each kind, so a slow reader
/// costs no memory.
public struct WatchEvents: AsyncSequence, Sendable {
    public typealias Element = WatchEvent

    let session: WatchSession
    let ticks: AsyncStream<Void>

    public struct AsyncIterator: AsyncIteratorProtocol {
        let session: WatchSession
        var ticks: AsyncStream<Void>.Iterator

        /// The next event; nil when the task is cancelled.
        public mutating func next() async -> WatchEvent? {
            while !Task.isCancelled {
                if let event = session.take() { return event }
                guard await ticks.next() != nil else { return nil }
            }
            return nil
        }
    }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(session: session, ticks: ticks.makeAsyncIterator())
    }
}

/// The events that wait to be taken, merged.
struct WatchMailbox: Sendable, Equatable {
    private var reasons: [String] = []
    private var seenReasons: Set<String> = []
    private var isStartPending = false
    private var changed: Set<WatchedPath> = []

    /// Different reasons that are told; a reason is told once.
    private static let reasonCount = 16

    mutating func post(_ event: WatchEvent) {
        switch event {
        case .started: isStartPending = true
        case .changed(let paths): changed.formUnion(paths)
        case .degraded(let reason):
            guard seenReasons.count < Self.reasonCount, seenReasons.insert(reason).inserted else {
                return
            }
            reasons.append(reason)
        }
    }

    /// A reason comes before the start, and the start before the changes after it.
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
