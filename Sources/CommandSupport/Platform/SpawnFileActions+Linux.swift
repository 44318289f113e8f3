#if os(Linux) || os(Android)
    import Essentials

    enum SpawnFileActions {
        /// To be initialized by `posix_spawn_file_actions_init`.
        static var none: posix_spawn_file_actions_t { posix_spawn_file_actions_t() }
    }
#endif
