import Essentials

/// The clock of the machine.
package enum ServerClock {
    /// Milliseconds since 1970; may step.
    package static func wallMilliseconds() -> Int64 {
        Int64((Date().timeIntervalSince1970 * 1_000).rounded(.down))
    }
}
