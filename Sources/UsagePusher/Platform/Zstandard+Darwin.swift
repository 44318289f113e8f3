#if canImport(Darwin)
    extension Zstandard {
        /// macOS has none of its own: by search path, Homebrew's on both processors, MacPorts'.
        static let fileNames = [
            "libzstd.1.dylib", "/opt/homebrew/lib/libzstd.1.dylib",
            "/usr/local/lib/libzstd.1.dylib", "/opt/local/lib/libzstd.1.dylib",
        ]
        /// The package as Homebrew names it.
        static let packageName = "zstd"
    }
#endif
