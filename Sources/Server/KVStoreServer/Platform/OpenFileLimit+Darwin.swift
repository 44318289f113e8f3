#if canImport(Darwin)
    import Essentials

    /// The limit on open files of the process.
    package enum OpenFileLimit {
        /// The soft limit; 0 when it is unknown.
        package static var current: Int {
            var limit = rlimit()
            return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? Int(clamping: limit.rlim_cur) : 0
        }

        /// Raises the soft limit to the hard limit; returns the limit, 0 when it is unknown.
        package static func raise() -> Int {
            var limit = rlimit()
            guard getrlimit(RLIMIT_NOFILE, &limit) == 0 else { return 0 }
            var raised = limit
            raised.rlim_cur = min(limit.rlim_max, rlim_t(OPEN_MAX))
            if setrlimit(RLIMIT_NOFILE, &raised) == 0 { limit = raised }
            return Int(clamping: limit.rlim_cur)
        }
    }
#endif
