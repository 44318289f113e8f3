#if os(Linux) || os(Android)
    import Essentials

    /// The limit on open files of the process.
    package enum OpenFileLimit {
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)

        /// The soft limit; 0 when it is unknown.
        package static var current: Int {
            var limit = rlimit()
            return getrlimit(resource, &limit) == 0 ? Int(clamping: limit.rlim_cur) : 0
        }

        /// Raises the soft limit to the hard limit; returns the limit, 0 when it is unknown.
        package static func raise() -> Int {
            var limit = rlimit()
            guard getrlimit(resource, &limit) == 0 else { return 0 }
            var raised = limit
            raised.rlim_cur = limit.rlim_max
            if setrlimit(resource, &raised) == 0 { limit = raised }
            return Int(clamping: limit.rlim_cur)
        }
    }
#endif
