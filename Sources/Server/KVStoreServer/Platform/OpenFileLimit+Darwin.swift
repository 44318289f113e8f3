#if canImport(Darwin)
    import Essentials

    extension OpenFileLimit {
        static let resource = RLIMIT_NOFILE
        static let greatest = rlim_t(OPEN_MAX)
    }
#endif
