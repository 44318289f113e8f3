#if canImport(Darwin)
    extension Zlib {
        static let fileName = "libz.1.dylib"
    }
#endif
