#if os(Linux) || os(Android)
    import Foundation

    /// What reading other tools' files needs of the system, as Linux names it.
    enum ScanSystem {
        /// Nanoseconds since 1970.
        static func modified(_ status: stat) -> Int64 {
            Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
        }

        /// Seconds of a clock that never steps.
        static func monotonicSeconds() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
    }
#endif
