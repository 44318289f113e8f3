import Synchronization

/// A clock on the virtual time of a `SimulatedCloud`, for debounce, retry and timer code under test.
///
/// ```swift
/// func saveLater(clock: any Clock<Duration>) -> Task<Void, any Error> {
///     Task {
///         try await clock.sleep(for: .seconds(2))
///         phone.store.set(draft, forKey: "draft")
///     }
/// }
/// _ = saveLater(clock: cloud.clock)
/// await cloud.advance(by: .seconds(1))
/// #expect(phone.store.string(forKey: "draft") == nil)
/// try await cloud.settle()                  // saved, and on every device
/// #expect(mac.store.string(forKey: "draft") == draft)
/// ```
///
/// It passes only with `advance`, `settle` and the cloud's other ways to run. Tasks wake in the order of their times,
/// and of two at one time the one that slept first. A task has returned from `sleep` before anything else happens. What
/// it does next usually happens at that time too: the cloud waits until the task has written, slept again or otherwise
/// used the cloud, but at most a few real milliseconds, since it cannot see what else a task waits for. A test that
/// needs certainty awaits the task itself.
public struct SimulatedClock: Clock {
    /// A virtual time.
    public struct Instant: InstantProtocol {
        /// The time since the cloud began.
        public var offset: Duration

        /// The time that long after the cloud began.
        public init(offset: Duration) { self.offset = offset }

        public func advanced(by duration: Duration) -> Instant {
            Instant(offset: offset + duration)
        }

        public func duration(to other: Instant) -> Duration { other.offset - offset }

        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    let cloud: SimulatedCloud

    public var now: Instant {
        Instant(offset: .milliseconds(cloud.virtualClock.milliseconds))
    }

    /// One millisecond; deadlines are rounded up to it.
    public var minimumResolution: Duration { .milliseconds(1) }

    /// Returns when the cloud's time has reached the deadline, at once if it has passed. `tolerance` is ignored.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        guard deadline > now else { return }
        let sleeper = Sleeper()
        defer { sleeper.hasResumed.finish(()) }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard sleeper.sleep(continuation) else { return }
                cloud.schedule(.wake(sleeper), at: deadline.offset.millisecondsRoundedUp)
            }
        } onCancel: {
            sleeper.cancel()
        }
    }
}

extension SimulatedCloud {
    /// The cloud's time as a Swift clock; pass it to code that takes `any Clock<Duration>`.
    public var clock: SimulatedClock {
        state.withLock { $0.hasSleepers = true }
        return SimulatedClock(cloud: self)
    }
}
