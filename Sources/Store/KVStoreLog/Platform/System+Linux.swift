#if os(Linux) || os(Android)
    import Essentials

    /// The calls that differ between systems, as Linux makes them.
    package enum System {
        /// Blocks until the file's data, and the size needed to read it, are on disk.
        static func syncData(_ descriptor: Int32) -> Int32 { fdatasync(descriptor) }

        /// Reserves space so that later writes into it cannot fail for want of space. Returns an errno or 0.
        static func preallocate(_ descriptor: Int32, byteCount: Int) -> Int32 {
            while true {
                let code = posix_fallocate(descriptor, 0, off_t(byteCount))
                if code != EINTR { return code }
            }
        }

        /// Makes the next reads of a file come from the disk, except for pages that wait to be written.
        static func discardCache(_ descriptor: Int32) {
            _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
        }

        /// Milliseconds of a clock that never steps and goes on while the machine sleeps.
        package static func monotonicMilliseconds() -> Int64 {
            var time = timespec()
            clock_gettime(CLOCK_BOOTTIME, &time)
            return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
        }
    }
#endif
