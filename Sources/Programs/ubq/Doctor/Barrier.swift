import Commands
import Essentials
import LocalFiles

/// What keeps this user from a file: the file itself, or the first directory on the way to it that refuses.
struct Barrier: Hashable {
    var path: String
    /// "permission denied".
    var reason: String
    /// Whether it belongs to another user, as after a program was run with sudo once.
    var isForeign = false

    /// What removes it; nil for what is not to be changed, such as a file system that is read only.
    var command: String? {
        guard reason == Self.reason(EACCES), path.hasPrefix(UserDirectories().home) else { return nil }
        return isForeign
            ? "sudo chown -R \"$(id -u)\" \(ShellWord.quoted(path))" : "chmod u+rwX \(ShellWord.quoted(path))"
    }

    /// Nil if the file can be read, or is not there.
    init?(reading path: String) {
        let refusal = Self.directories(of: path).lazy.compactMap { Self.refusal($0, X_OK) }.first
        guard let refusal = refusal ?? Self.refusal(path, R_OK) else { return nil }
        self = refusal
    }

    /// Nil if the directory can be written, or created.
    init?(writing directory: String) {
        // What is there of the way to it.
        let last = (Self.directories(of: directory) + [directory]).last { access($0, F_OK) == 0 }
        guard let refusal = Barrier(reading: directory) ?? last.flatMap({ Self.refusal($0, W_OK | X_OK) }) else {
            return nil
        }
        self = refusal
    }

    init(path: String, reason: String = Self.reason(EACCES), isForeign: Bool = false) {
        (self.path, self.reason, self.isForeign) = (path, reason, isForeign)
    }

    private static func refusal(_ path: String, _ mode: Int32) -> Barrier? {
        guard access(path, mode) != 0, errno != ENOENT, errno != ENOTDIR else { return nil }
        let reason = reason(errno)
        // Who owns what cannot be asked for is nobody's business here.
        let isForeign = (try? FileStatus(path: path)).map { $0.owner != getuid() } ?? false
        return Barrier(path: path, reason: reason, isForeign: isForeign)
    }

    static func reason(_ code: Int32) -> String { String(cString: strerror(code)).lowercased() }

    /// From the root down.
    private static func directories(of path: String) -> [String] {
        path.indices.filter { path[$0] == "/" && $0 > path.startIndex }.map { String(path[..<$0]) }
    }
}
