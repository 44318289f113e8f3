/// When what alerts depend on is looked at: when something may have changed and when the last look asked for it, but at
/// most once a second.
package struct AlertPace: Sendable {
    package enum Next: Sendable {
        /// Seconds after which to look even if nothing has changed; nil for never.
        case look(after: Double?)
        case end
    }

    /// Seconds from one look to the next.
    private static let interval = 1.0

    private let sleep: @Sendable (Double) async throws -> Void

    /// - Parameter sleep: sleeps for seconds; throws when the task is cancelled.
    package init(sleep: @escaping @Sendable (Double) async throws -> Void) { self.sleep = sleep }

    /// Looks at once, and then as described, until that says so or the task is cancelled.
    ///
    /// - Parameters:
    ///   - inputs: an element when something may have changed.
    ///   - inbox: gives `inputs` an element.
    package func run(
        _ inputs: AsyncStream<Void>, _ inbox: AsyncStream<Void>.Continuation, look: () async -> Next
    ) async {
        var next = inputs.makeAsyncIterator()
        while !Task.isCancelled {
            guard case .look(let wait) = await look() else { return }
            try? await sleep(Self.interval)  // It ends early when the task is cancelled, and then the loop ends.
            let timer = wait.map { seconds in
                Task(priority: .utility) {
                    try await sleep(seconds)
                    inbox.yield()
                }
            }
            _ = await next.next()
            timer?.cancel()
        }
    }
}
