package import Commands
package import Essentials

/// Bounds on a program of somebody else.
package struct ProgramLimits: Sendable, Equatable {
    package var seconds = 10.0
    package var outputByteCount = 1_048_576
    /// For each process: private memory that it may write, not address space.
    var memoryByteCount = 1_073_741_824
    var openFileCount = 256

    package init(
        seconds: Double = 10, outputByteCount: Int = 1_048_576, memoryByteCount: Int = 1_073_741_824
    ) {
        self.seconds = seconds
        self.outputByteCount = outputByteCount
        self.memoryByteCount = memoryByteCount
    }
}

extension BoundedProcess {
    /// Sets the limits and becomes the program. If this program is killed meanwhile, the process in the background ends
    /// the group; it is not a child of the program, which might wait for all of its own.
    private static let script = """
        {
        ulimit -c 0; ulimit -t "$1"; ulimit -n "$2"; ulimit -d "$3"
        ( (sleep "$4"; kill -9 -$$) <&- >&- & )
        } 2>/dev/null
        cd /
        shift 4
        exec "$0" "$@"
        """

    /// Runs the program with no environment but `variables`. Blocks until it has ended, at most a second longer than
    /// `limits.seconds`.
    ///
    /// - Parameters:
    ///   - path: without a slash, of the first program of this name in a directory of the variable `PATH`.
    ///   - isCancelled: asked often; the program is killed when it returns true.
    package init(
        confined path: String, arguments: [String] = [], input: Data = Data(), variables: [String: String],
        limits: ProgramLimits = ProgramLimits(), isCancelled: () -> Bool = { false }
    ) {
        let seconds = Int(limits.seconds.rounded(.up))
        let numbers = [seconds, limits.openFileCount, limits.memoryByteCount / 1_024, seconds + 5]
        self.init(
            "/bin/sh", arguments: ["-c", Self.script, path] + numbers.map(String.init) + arguments, input: input,
            variables: variables,
            limits: Limits(seconds: limits.seconds, outputByteCount: limits.outputByteCount), isCancelled: isCancelled)
    }
}
