import Foundation

/// The clocks of the machine.
enum ServerClock {
    private static let start = ContinuousClock.now

    /// Milliseconds since 1970; may step.
    static func wallMilliseconds() -> Int64 {
        Int64((Date().timeIntervalSince1970 * 1_000).rounded(.down))
    }

    /// Milliseconds of a clock that never steps.
    static func monotonicMilliseconds() -> Int64 {
        let elapsed = start.duration(to: .now).components
        return elapsed.seconds * 1_000 + elapsed.attoseconds / 1_000_000_000_000_000
    }
}
