#if os(Linux) || os(Android)
    extension Zlib {
        static let fileName = "libz.so.1"
    }
#endif
