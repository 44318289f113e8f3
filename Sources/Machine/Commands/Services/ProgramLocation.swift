import Essentials
import LocalFiles

/// Where a program is, and how a command names it.
package struct ProgramLocation: Sendable, Equatable {
    /// Absolute; in a directory of the search path if the program is in one.
    package let path: String
    /// Its name if the search path leads to it, else `path`.
    package let command: String

    /// - Parameters:
    ///   - executable: the absolute path of the running program, without links.
    ///   - searchPath: the value of `PATH`.
    package init(executable: String, name: String, searchPath: String) {
        let identity = Self.identity(executable)
        let first = searchPath.split(separator: ":").filter { $0.hasPrefix("/") }
            .map { $0 + "/" + name }.first { Self.identity($0) != nil }
        let isFound = identity != nil && first.flatMap(Self.identity) == identity
        // One file may be all programs, each by a link of its name beside it.
        let beside = (executable.lastIndex(of: "/").map { executable[...$0] } ?? "") + name
        let own = identity != nil && Self.identity(String(beside)) == identity ? String(beside) : executable
        path = isFound ? first ?? own : own
        command = isFound ? name : own
    }

    /// This program.
    package static func current(name: String) -> ProgramLocation {
        ProgramLocation(
            executable: RunningExecutable.path ?? CommandLine.arguments.first ?? name, name: name,
            searchPath: ProcessInfo.processInfo.environment["PATH"] ?? "")
    }

    private static func identity(_ path: String) -> FileStatus.Identity? {
        // No other file is the same.
        guard let status = try? FileStatus(path: path), status.kind == .file else { return nil }
        return status.identity
    }
}
