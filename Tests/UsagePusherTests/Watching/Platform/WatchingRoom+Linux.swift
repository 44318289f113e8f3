#if os(Linux) || os(Android)
    import Foundation
    import Testing

    /// Whether the system gives this user one more inotify instance. Other programs of the same user
    /// may hold all of `/proc/sys/fs/inotify/max_user_instances`; then files are compared instead.
    enum WatchingRoom {
        static var isThere: Bool {
            let descriptor = inotify_init1(Int32(IN_CLOEXEC))
            guard descriptor >= 0 else { return false }
            close(descriptor)
            return true
        }

        static let comment: Comment = "all of this user's inotify instances are taken"
    }
#endif
