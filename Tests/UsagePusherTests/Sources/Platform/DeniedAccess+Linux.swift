#if os(Linux) || os(Android)
    import Foundation

    /// Runs `body` on this thread with the rights of a user who may not read files without permission bits, also when
    /// the tests are the superuser's. Other threads keep theirs.
    func withoutPrivileges<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard geteuid() == 0 else { return try body() }
        typealias SetUser = @convention(c) (uid_t) -> CInt
        // The module map of the C library leaves sys/fsuid.h out.
        let set = unsafeBitCast(dlsym(nil, "setfsuid"), to: SetUser.self)
        _ = set(65_534)
        defer { _ = set(0) }
        return try body()
    }
#endif
