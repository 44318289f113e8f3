#if os(Linux) || os(Android)
    import Foundation
    import Testing

    /// Whether this user may open one more inotify instance. Other programs of the user may have
    /// opened all of `/proc/sys/fs/inotify/max_user_instances`; then files are compared instead.
    enum InotifyInstances {
        static var isAvailable: Bool {
            let descriptor = inotify_init1(Int32(IN_CLOEXEC))
            guard descriptor >= 0 else { return false }
            close(descriptor)
            return true
        }

        static let comment: Comment = "all of this user's inotify instances are in use"
    }
#endif
