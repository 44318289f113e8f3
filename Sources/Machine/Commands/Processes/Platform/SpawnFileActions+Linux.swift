#if os(Linux) || os(Android)
    import Essentials

    enum SpawnFileActions {
        /// To be initialized by `posix_spawn_file_actions_init`.
        static var none: posix_spawn_file_actions_t { posix_spawn_file_actions_t() }

        /// Closes the descriptors from `first` on in the child, with room for those that are opened meanwhile. Closing
        /// one that is not open is no error.
        static func close(from first: Int32, _ actions: inout posix_spawn_file_actions_t) -> Bool {
            let last = min((Descriptor.allOpen.max() ?? first) + 64, Int32(sysconf(Int32(_SC_OPEN_MAX))) - 1)
            return first > last || (first...last).allSatisfy { posix_spawn_file_actions_addclose(&actions, $0) == 0 }
        }
    }

    enum SpawnAttributes {
        /// To be initialized by `posix_spawnattr_init`.
        static var none: posix_spawnattr_t { posix_spawnattr_t() }

        /// `POSIX_SPAWN_SETSID`, which spawn.h declares for GNU sources alone.
        static let newSession: Int16 = 0x80
    }
#endif
