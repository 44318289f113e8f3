/// How long to wait after the n-th failure in a row: doubling, bounded, with half of it at random so
/// that replicas that lost the daemon together do not come back together.
package struct Backoff: Sendable, Equatable {
    private(set) var failureCount = 0

    static let firstMilliseconds: Int64 = 500
    package static let greatestMilliseconds: Int64 = 30_000

    /// The wait after one more failure; never shorter than what the daemon asked for, up to ten minutes.
    mutating func next(
        atLeast asked: Int64?, using random: inout some RandomNumberGenerator
    ) -> Int64 {
        let full = min(Self.firstMilliseconds << min(failureCount, 10), Self.greatestMilliseconds)
        failureCount += 1
        let wait = Int64.random(in: full / 2...full, using: &random)
        return max(wait, min(asked ?? 0, 600_000))
    }

    mutating func reset() { failureCount = 0 }
}
