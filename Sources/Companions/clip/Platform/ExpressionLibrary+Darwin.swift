#if canImport(Darwin)
    extension ExpressionLibrary {
        /// macOS has none of its own: by search path, Homebrew's on both processors, MacPorts'.
        static let fileNames = [
            "libpcre2-8.0.dylib", "/opt/homebrew/lib/libpcre2-8.0.dylib",
            "/usr/local/lib/libpcre2-8.0.dylib", "/opt/local/lib/libpcre2-8.0.dylib",
        ]
        /// The package as Homebrew names it.
        static let packageName = "pcre2"
    }
#endif
