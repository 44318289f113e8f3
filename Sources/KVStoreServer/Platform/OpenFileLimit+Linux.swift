#if os(Linux) || os(Android)
    import Essentials

    /// The limit on open files of the process.
    package enum OpenFileLimit {
        /// Raises the soft limit to the hard limit; returns the limit, 0 when it is unknown.
        package static func raise() -> Int {
            var limit = rlimit()
            guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
                return 0
            }
            var raised = limit
            raised.rlim_cur = limit.rlim_max
            if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0 {
                limit = raised
            }
            return Int(clamping: limit.rlim_cur)
        }
    }
#endif
