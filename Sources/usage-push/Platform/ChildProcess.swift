import Foundation

/// A program that was started by this one, in its process group: a signal to the group, as from a
/// terminal or from the program that runs a status line, reaches both.
struct ChildProcess {
    private let identifier: pid_t

    /// Starts a program with this program's environment, output and errors; nil when that fails.
    init?(_ path: String, arguments: [String], standardInput: Int32) {
        var actions = SpawnFileActions.none
        guard posix_spawn_file_actions_init(&actions) == 0 else { return nil }
        defer { posix_spawn_file_actions_destroy(&actions) }
        guard posix_spawn_file_actions_adddup2(&actions, standardInput, STDIN_FILENO) == 0 else {
            return nil
        }
        let environment = ProcessInfo.processInfo.environment.map { $0.key + "=" + $0.value }
        var identifier: pid_t = 0
        let code = Self.withPointers([path] + arguments) { arguments in
            Self.withPointers(environment) { environment in
                posix_spawn(&identifier, path, &actions, nil, arguments, environment)
            }
        }
        guard code == 0 else { return nil }
        self.identifier = identifier
    }

    /// Blocks until the program has ended.
    func wait() {
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) == -1, errno == EINTR {}
    }

    private static func withPointers<Result>(
        _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let pointers = texts.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        return body(pointers + [nil])
    }
}
