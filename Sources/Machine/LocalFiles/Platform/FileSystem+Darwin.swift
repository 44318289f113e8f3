#if canImport(Darwin)
    import Essentials

    /// The calls that differ between systems, as Apple's make them.
    enum FileSystem {
        static func modificationTime(of status: stat) -> timespec { status.st_mtimespec }

        /// Makes `lseek` go to the next bytes that are stored.
        static let seekData = SEEK_DATA

        /// Blocks until the drive has written the file or directory; `fsync` alone stops at the
        /// drive's cache. Returns 0, or -1 with `errno`.
        static func flush(_ descriptor: Int32) -> Int32 { fcntl(descriptor, F_FULLFSYNC) == 0 ? 0 : fsync(descriptor) }
    }
#endif
