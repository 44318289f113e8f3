#if os(Linux) || os(Android)
    import Essentials

    extension OpenFileLimit {
        static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        static let greatest = rlim_t.max
    }
#endif
