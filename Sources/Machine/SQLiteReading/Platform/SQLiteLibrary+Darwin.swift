#if canImport(Darwin)
    extension SQLiteLibrary {
        /// Part of macOS.
        static let fileNames = ["libsqlite3.dylib", "/usr/lib/libsqlite3.dylib"]
        /// The package as Homebrew names it.
        package static let packageName = "sqlite"
    }
#endif
