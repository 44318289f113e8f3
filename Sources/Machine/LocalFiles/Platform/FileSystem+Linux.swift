#if os(Linux) || os(Android)
    import Essentials

    /// The calls that differ between systems, as Linux makes them.
    enum FileSystem {
        static func modificationTime(of status: stat) -> timespec { status.st_mtim }

        /// Of `lseek`, to the next bytes that are stored; glibc names it only to programs in C with its extensions.
        static let seekData: Int32 = 3

        /// Blocks until the drive has written the file or directory. Returns 0, or -1 with `errno`.
        static func flush(_ descriptor: Int32) -> Int32 { fsync(descriptor) }
    }
#endif
