import Essentials

/// Wall time, uptime and sleeping; tests inject their own.
package struct NotificationClock: Sendable {
    var date: @Sendable () -> Date
    /// Seconds on a clock that never steps.
    var uptime: @Sendable () -> Double
    /// Seconds; throws when the task is cancelled.
    var sleep: @Sendable (Double) async throws -> Void

    /// - Parameter speed: how many times as fast uptime passes, for tests of what takes minutes.
    static func system(speed: Double = 1) -> NotificationClock {
        let clock = ContinuousClock()
        let start = clock.now
        return NotificationClock(
            date: { Date() }, uptime: { (clock.now - start) / .seconds(1) * speed },
            sleep: { try await clock.sleep(for: .seconds($0 / speed)) })
    }
}
