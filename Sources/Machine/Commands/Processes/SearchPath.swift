import Essentials

/// Where the variable `PATH` of an environment leads to, by its absolute directories.
package struct SearchPath: Sendable {
    private let directories: [String]

    package init(_ environment: [String: String] = ProcessInfo.processInfo.environment) {
        directories = (environment["PATH"] ?? "").split(separator: ":").filter {
            $0.hasPrefix("/")
        }.map(String.init)
    }

    /// Nil without such a program.
    package func path(of program: String) -> String? {
        directories.lazy.map { "\($0)/\(program)" }.first(where: Self.isProgram)
    }

    /// Whether there is a file that this user may execute.
    package static func isProgram(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
    }
}
