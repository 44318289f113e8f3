#if os(Linux) || os(Android)
    extension SQLiteLibrary {
        static let fileNames = ["libsqlite3.so.0", "libsqlite3.so"]
        /// The package as Debian names it.
        package static let packageName = "libsqlite3-0"
    }
#endif
