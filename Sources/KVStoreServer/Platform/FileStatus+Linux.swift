#if os(Linux) || os(Android)
    import Foundation

    extension PrivateFile.Signature {
        init(_ status: stat) {
            self.init(
                device: UInt64(status.st_dev), inode: UInt64(status.st_ino),
                byteCount: Int64(status.st_size), seconds: Int64(status.st_mtim.tv_sec),
                nanoseconds: Int64(status.st_mtim.tv_nsec))
        }
    }

    /// How many files the process may have open.
    package enum OpenFileLimit {
        /// Raises the limit as far as the system lets a process raise it itself; returns the limit.
        package static func raise() -> Int {
            var limit = rlimit()
            guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
                return 0
            }
            var wanted = limit
            wanted.rlim_cur = limit.rlim_max
            if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &wanted) == 0 {
                limit = wanted
            }
            return Int(clamping: limit.rlim_cur)
        }
    }
#endif
