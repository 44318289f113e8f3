import Essentials

/// Files of another owner than the user's, as a program leaves them that was run with sudo once.
enum FileOwner {
    /// "; /path belongs to root, so run sudo chown -R USER /path": for a path that the user may not use because it, or
    /// a directory that it is in, belongs to another user. Nil otherwise.
    static func advice(_ path: String, user: uid_t) -> String? {
        var foreign = existing(path)
        guard let found = owner(of: foreign), found != user else { return nil }
        // As far up as the same owner reaches, unless all of it is somebody else's.
        var parent = directory(of: foreign)
        while let next = owner(of: parent), next == found, parent != "/" {
            (foreign, parent) = (parent, directory(of: parent))
        }
        if owner(of: parent) != user { foreign = existing(path) }
        return "; \(foreign) belongs to \(name(of: found)), so run sudo chown -R \(name(of: user)) \(quoted(foreign))"
    }

    private static func existing(_ path: String) -> String {
        var path = path
        while owner(of: path) == nil, path != "/", !path.isEmpty { path = directory(of: path) }
        return path
    }

    private static func owner(of path: String) -> uid_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_uid : nil
    }

    private static func directory(of path: String) -> String {
        let parts = path.split(separator: "/")
        return "/" + parts.dropLast().joined(separator: "/")
    }

    private static func name(of user: uid_t) -> String {
        getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "\(user)"
    }

    private static func quoted(_ path: String) -> String { "'" + path.replacing("'", with: #"'\''"#) + "'" }
}
