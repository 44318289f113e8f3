import Essentials
import KVStoreCore
import KVStoreLog

extension Instant {
    /// Both clocks, now.
    static func now() -> Instant {
        Instant(
            wall: Int64((Date().timeIntervalSince1970 * 1_000).rounded(.down)),
            monotonic: System.monotonicMilliseconds())
    }
}
