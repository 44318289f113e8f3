import Essentials

/// A tool of the system that is run to its end, such as `systemctl`.
package struct SystemTool {
    package struct Outcome {
        package var status: Int32
        /// Standard output and standard error.
        package var lines: [String]

        package var isSuccess: Bool { status == 0 }
    }

    private let path: String

    /// Nil when no directory of the search path contains it.
    package init?(_ name: String) {
        guard let path = SearchPath().path(of: name) else { return nil }
        self.path = path
    }

    package func run(_ arguments: [String]) -> Outcome {
        let failure = Outcome(status: -1, lines: ["cannot run \(path)"])
        var ends: [Int32] = [-1, -1]
        let input = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard input >= 0, pipe(&ends) == 0 else { return failure }
        defer {
            close(input)
            close(ends[0])
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let child = ChildProcess(path, arguments: arguments, standardInput: input, output: ends[1])
        close(ends[1])
        guard let child else { return failure }
        let output = Self.readToEnd(ends[0])
        return Outcome(
            status: child.wait(),
            lines: String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init))
    }

    private static func readToEnd(_ descriptor: Int32) -> [UInt8] {
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count > 0 {
                output += buffer[..<count]
            } else if errno != EINTR || count == 0 {
                return output
            }
        }
    }
}
