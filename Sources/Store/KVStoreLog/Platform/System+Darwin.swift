#if canImport(Darwin)
    import Essentials

    /// The calls that differ between systems, as Apple's make them.
    package enum System {
        /// Blocks until the drive has written the file's data; plain `fsync` stops at the drive's cache.
        static func syncData(_ descriptor: Int32) -> Int32 { fcntl(descriptor, F_FULLFSYNC) }

        /// Reserves space and sets the size. Returns an errno or 0.
        static func preallocate(_ descriptor: Int32, byteCount: Int) -> Int32 {
            var store = fstore_t(
                fst_flags: UInt32(F_ALLOCATEALL), fst_posmode: F_PEOFPOSMODE, fst_offset: 0,
                fst_length: off_t(byteCount), fst_bytesalloc: 0)
            if fcntl(descriptor, F_PREALLOCATE, &store) == -1, errno == ENOSPC { return ENOSPC }
            return ftruncate(descriptor, off_t(byteCount)) == 0 ? 0 : errno
        }

        /// Makes the next reads of a file come from the disk.
        static func discardCache(_ descriptor: Int32) { _ = fcntl(descriptor, F_NOCACHE, 1) }

        /// Milliseconds of a clock that never steps and goes on while the machine sleeps.
        package static func monotonicMilliseconds() -> Int64 {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC_RAW, &time)
            return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
        }
    }
#endif
