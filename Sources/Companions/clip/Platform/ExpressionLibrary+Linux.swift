#if os(Linux) || os(Android)
    extension ExpressionLibrary {
        static let fileNames = ["libpcre2-8.so.0", "libpcre2-8.so"]
        /// The package as Debian names it.
        static let packageName = "libpcre2-8-0"
    }
#endif
