#if os(Linux) || os(Android)
    import Essentials

    /// The calls that differ between systems, as Linux makes them.
    enum FileSystem {
        static func modificationTime(of status: stat) -> timespec { status.st_mtim }

        /// Makes `lseek` go to the next bytes that are stored; glibc declares it only to C with its extensions.
        static let seekData: Int32 = 3

        /// Blocks until the drive has written the file or directory. Returns 0, or -1 with `errno`.
        static func flush(_ descriptor: Int32) -> Int32 { fsync(descriptor) }
    }
#endif
