#if os(Linux) || os(Android)
    extension Zstandard {
        static let fileNames = ["libzstd.so.1", "libzstd.so"]
        /// The package as Debian names it.
        static let packageName = "libzstd1"
    }
#endif
