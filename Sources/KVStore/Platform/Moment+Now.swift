import Foundation

extension Moment {
    /// Both clocks, now.
    static func now() -> Moment {
        Moment(
            wall: Int64((Date().timeIntervalSince1970 * 1_000).rounded(.down)),
            monotonic: System.monotonicMilliseconds())
    }
}
