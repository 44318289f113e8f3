import Essentials
import LocalFiles

/// Whether nobody but the user and the superuser can have written or replaced a program.
package enum TrustedProgram {
    /// Why a program does not run.
    package struct Refusal: Error, Sendable, Equatable {
        package let reason: String

        init(_ reason: String) { self.reason = reason }
    }

    /// Throws unless the program that a path leads to may run, with what to do about it.
    package static func check(_ path: String) throws(Refusal) {
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        guard try status(of: target, kind: .file).permissions & 0o111 != 0 else {
            throw Refusal("\(path) is not executable; run chmod u+x \(path)")
        }
        for file in Set([path, target]) { try checkDirectories(of: file) }
    }

    /// Throws unless nobody else can put another file in the place of this one.
    static func checkDirectories(of path: String) throws(Refusal) {
        guard path.hasPrefix("/") else { throw Refusal("\(path) is not an absolute path") }
        var directory = LocalFile(path).directory.path
        var others = 0o022
        while true {
            _ = try status(of: directory, kind: .directory, writableBy: others)
            if directory == "/" { return }
            directory = LocalFile(directory).directory.path
            // The members of a group that a user has a directory in common with.
            others = 0o002
        }
    }

    /// - Parameter others: the permissions that nobody else may have.
    static func status(
        of path: String, kind: FileStatus.Kind, followsLinks: Bool = true, writableBy others: Int = 0o022
    ) throws(Refusal) -> FileStatus {
        let found: FileStatus?
        do throws(FileError) {
            found = try FileStatus(path: path, followsLinks: followsLinks)
        } catch {
            throw Refusal(error.sourceMessage)
        }
        guard let status = found else { throw Refusal("there is no \(path)") }
        guard status.kind == kind else {
            throw Refusal(
                status.kind == .link
                    ? "it is a symbolic link; use a script that runs its target"
                    : "\(path) is not a \(kind == .file ? "regular file" : "directory")")
        }
        guard [0, geteuid()].contains(status.owner) else { throw Refusal("\(path) belongs to another user") }
        guard status.permissions & others == 0 || status.isSticky else {
            throw Refusal("others may write to \(path); run chmod go-w \(path)")
        }
        return status
    }
}
