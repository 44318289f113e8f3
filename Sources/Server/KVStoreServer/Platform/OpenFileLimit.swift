import Essentials

/// The limit on open files of the process.
package enum OpenFileLimit {
    /// The soft limit; 0 when it is unknown.
    package static var current: Int {
        var limit = rlimit()
        return getrlimit(resource, &limit) == 0 ? Int(clamping: limit.rlim_cur) : 0
    }

    /// Raises the soft limit to the hard limit, as far as the system takes it; returns the limit, 0 when it is unknown.
    package static func raise() -> Int {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return 0 }
        var raised = limit
        raised.rlim_cur = min(limit.rlim_max, greatest)
        if setrlimit(resource, &raised) == 0 { limit = raised }
        return Int(clamping: limit.rlim_cur)
    }
}
