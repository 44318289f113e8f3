#if canImport(Darwin)
    import Essentials

    enum SpawnFileActions {
        /// To be initialized by `posix_spawn_file_actions_init`.
        static var none: posix_spawn_file_actions_t? { nil }

        /// Closing a descriptor that is not open would be an error, so those marked to close on exec have to do.
        static func close(from first: Int32, _ actions: inout posix_spawn_file_actions_t?) -> Bool { true }
    }

    enum SpawnAttributes {
        /// To be initialized by `posix_spawnattr_init`.
        static var none: posix_spawnattr_t? { nil }

        static let newSession = Int16(POSIX_SPAWN_SETSID)
    }
#endif
