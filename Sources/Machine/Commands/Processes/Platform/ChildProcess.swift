package import Essentials

/// A program that was started by this one, by default in its process group: a signal to the group, as from a
/// terminal or from the program that runs a status line, reaches both.
package struct ChildProcess {
    package let identifier: pid_t
    private let leadsGroup: Bool

    /// Starts a program with no signal blocked, and with the default action for SIGPIPE, which libraries of this
    /// program may ignore; nil when that fails, with the reason in `errno`.
    ///
    /// - Parameters:
    ///   - path: without a slash, of the first file of this name in a directory of this program's `PATH`.
    ///   - standardInput: nil for that of this program.
    ///   - output: the descriptor for its output and errors; nil for those of this program.
    ///   - errors: the descriptor for its errors, if not `output`.
    ///   - firstClosed: descriptors from this one on are not inherited, where the system can close them; nil to inherit
    ///     those that do not close on exec. Unlike marking them, it includes what other threads open meanwhile.
    ///   - variables: of the environment, besides those of this program or instead of them.
    ///   - inheritsVariables: false for an environment of `variables` alone.
    ///   - leadsGroup: whether the program gets a process group of its own, see `send`.
    ///   - leadsSession: whether it gets a session of its own too, so that it outlives the terminal of this program.
    package init?(
        _ path: String, arguments: [String], standardInput: Int32? = nil, output: Int32? = nil,
        errors: Int32? = nil, firstClosed: Int32? = nil, variables: [String: String] = [:],
        inheritsVariables: Bool = true, leadsGroup: Bool = false, leadsSession: Bool = false
    ) {
        var actions = SpawnFileActions.none
        guard posix_spawn_file_actions_init(&actions) == 0 else { return nil }
        defer { posix_spawn_file_actions_destroy(&actions) }
        var attributes = SpawnAttributes.none
        guard posix_spawnattr_init(&attributes) == 0 else { return nil }
        defer { posix_spawnattr_destroy(&attributes) }
        var blocked = sigset_t()
        sigemptyset(&blocked)
        posix_spawnattr_setsigmask(&attributes, &blocked)
        sigaddset(&blocked, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &blocked)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (leadsGroup ? POSIX_SPAWN_SETPGROUP : 0))
                | (leadsSession ? SpawnAttributes.newSession : 0))
        var copies: [(Int32, Int32)] = standardInput.map { [($0, STDIN_FILENO)] } ?? []
        if let output { copies.append((output, STDOUT_FILENO)) }
        if let errors = errors ?? output { copies.append((errors, STDERR_FILENO)) }
        for (descriptor, standard) in copies {
            guard posix_spawn_file_actions_adddup2(&actions, descriptor, standard) == 0 else { return nil }
        }
        if let firstClosed, !SpawnFileActions.close(from: firstClosed, &actions) { return nil }
        let inherited = inheritsVariables ? ProcessInfo.processInfo.environment : [:]
        let environment = inherited.merging(variables) { $1 }.map { $0.key + "=" + $0.value }
        var identifier: pid_t = 0
        let code = Self.withPointers([path] + arguments) { arguments in
            Self.withPointers(environment) { environment in
                posix_spawnp(&identifier, path, &actions, &attributes, arguments, environment)
            }
        }
        guard code == 0 else {
            errno = code
            return nil
        }
        self.identifier = identifier
        self.leadsGroup = leadsGroup || leadsSession
    }

    /// Runs a program in place of this one, with its streams and environment. Returns only if that fails, with the
    /// reason in `errno`.
    package static func become(_ path: String, arguments: [String]) {
        withPointers(arguments) { arguments in Console.withInheritedSignals { _ = execv(path, arguments) } }
    }

    /// Blocks until the program has ended.
    ///
    /// - Returns: its exit status, or 128 plus the number of the signal that ended it; 126 if the system does not tell,
    ///   as where SIGCHLD is ignored.
    @discardableResult
    package func wait() -> Int32 {
        let end = waitForEnd()
        return end < 0 ? 128 - end : end
    }

    /// Blocks until the program has ended.
    ///
    /// - Returns: as `wait`, but for a signal its negative number.
    package func waitForEnd() -> Int32 {
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) == -1 {
            guard errno == EINTR else { return 126 }
        }
        let signal = status & 0x7f
        return signal == 0 ? (status >> 8) & 0xff : -signal
    }

    /// Ends this process as another one has ended.
    ///
    /// - Parameter end: as `waitForEnd` returns.
    package static func end(as end: Int32) -> Never {
        if end < 0 {
            var ending = sigset_t()
            sigemptyset(&ending)
            sigaddset(&ending, -end)
            pthread_sigmask(SIG_UNBLOCK, &ending, nil)
            signal(-end, SIG_DFL)
            raise(-end)
        }
        exit(end < 0 ? 128 - end : end)
    }

    /// Whether the program has ended. Until `wait` its number, and that of its group, is not given to another one.
    package var hasEnded: Bool {
        var information = siginfo_t()
        let result = waitid(P_PID, id_t(identifier), &information, Int32(WEXITED | WNOHANG | WNOWAIT))
        return result == 0 ? information.si_signo == SIGCHLD : errno != EINTR
    }

    /// Sends a signal to it, and to all other programs of the group that it leads.
    package func send(_ number: Int32) { kill(leadsGroup ? -identifier : identifier, number) }

    private static func withPointers<Result>(
        _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let pointers = texts.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        return body(pointers + [nil])
    }
}
