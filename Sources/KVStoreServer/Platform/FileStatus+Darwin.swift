#if canImport(Darwin)
    import Foundation

    extension PrivateFile.Signature {
        init(_ status: stat) {
            self.init(
                device: UInt64(UInt32(bitPattern: status.st_dev)), inode: UInt64(status.st_ino),
                byteCount: Int64(status.st_size), seconds: Int64(status.st_mtimespec.tv_sec),
                nanoseconds: Int64(status.st_mtimespec.tv_nsec))
        }
    }

    /// How many files the process may have open.
    package enum OpenFileLimit {
        /// Raises the limit as far as the system lets a process raise it itself; returns the limit.
        package static func raise() -> Int {
            var limit = rlimit()
            guard getrlimit(RLIMIT_NOFILE, &limit) == 0 else { return 0 }
            var wanted = limit
            wanted.rlim_cur = min(limit.rlim_max, rlim_t(OPEN_MAX))
            if setrlimit(RLIMIT_NOFILE, &wanted) == 0 { limit = wanted }
            return Int(clamping: limit.rlim_cur)
        }
    }
#endif
