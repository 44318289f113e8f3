/// Exponential back-off with jitter: half of each wait is random, so that replicas that lost the daemon
/// together do not return together.
package struct Backoff: Sendable, Equatable {
    private(set) var failureCount = 0

    static let firstMilliseconds: Int64 = 500
    package static let greatestMilliseconds: Int64 = 30_000

    package init() {}

    /// The wait in milliseconds after one more failure; at least what the daemon asked for, up to ten minutes.
    package mutating func next(atLeast requested: Int64?, using random: inout some RandomNumberGenerator) -> Int64 {
        let full = min(Self.firstMilliseconds << min(failureCount, 10), Self.greatestMilliseconds)
        failureCount += 1
        let wait = Int64.random(in: full / 2...full, using: &random)
        return max(wait, min(requested ?? 0, 600_000))
    }

    package mutating func reset() { failureCount = 0 }
}
