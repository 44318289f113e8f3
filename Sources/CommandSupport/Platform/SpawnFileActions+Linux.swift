#if os(Linux) || os(Android)
    import Essentials

    enum SpawnFileActions {
        /// To be initialized by `posix_spawn_file_actions_init`.
        static var none: posix_spawn_file_actions_t { posix_spawn_file_actions_t() }
    }

    enum SpawnAttributes {
        /// To be initialized by `posix_spawnattr_init`.
        static var none: posix_spawnattr_t { posix_spawnattr_t() }
    }
#endif
