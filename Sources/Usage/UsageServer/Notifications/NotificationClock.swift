package import Essentials

/// Wall time, uptime and sleeping; tests inject their own.
package struct NotificationClock: Sendable {
    package var date: @Sendable () -> Date
    /// Seconds on a clock that never steps.
    package var uptime: @Sendable () -> Double
    /// Seconds; throws when the task is cancelled.
    package var sleep: @Sendable (Double) async throws -> Void

    package init(
        date: @escaping @Sendable () -> Date, uptime: @escaping @Sendable () -> Double,
        sleep: @escaping @Sendable (Double) async throws -> Void
    ) {
        self.date = date
        self.uptime = uptime
        self.sleep = sleep
    }

    /// - Parameter speed: how many times as fast uptime passes, for tests of what takes minutes.
    package static func system(speed: Double = 1) -> NotificationClock {
        let clock = ContinuousClock()
        let start = clock.now
        return NotificationClock(
            date: { Date() }, uptime: { (clock.now - start) / .seconds(1) * speed },
            sleep: { try await clock.sleep(for: .seconds($0 / speed)) })
    }
}
