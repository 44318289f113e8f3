import Essentials

/// Another machine, reached with the user's `ssh`: keys, agents, names and questions are its business. Calls block.
package struct RemoteHost: Sendable {
    /// As `ssh` knows it.
    package let name: String
    /// Nil for a connection of its own for each script, which asks nothing.
    private let connections: SharedConnections?

    package init(_ name: String, _ connections: SharedConnections? = nil) {
        self.name = name
        self.connections = connections
    }

    /// Whether `ssh` takes it for a host and not for an option.
    package static func isValidName(_ name: String) -> Bool {
        !name.isEmpty && !name.hasPrefix("-") && name.utf8.count <= 100
            && name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    /// One connection for all commands to a host, so that a password or a touch of a key is asked for once.
    package final class SharedConnections: Sendable {
        fileprivate let directory: String

        package init() throws(CommandFailure) {
            // Short, as the path of a socket has 108 bytes at most.
            var path = Array(("/tmp/ubq-" + String(repeating: "X", count: 6)).utf8CString)
            guard mkdtemp(&path) != nil else {
                throw CommandFailure(
                    .cannotCreate, "cannot create a directory in /tmp: \(String(cString: strerror(errno)))")
            }
            directory = String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }

        /// Ends them, and removes the directory of their sockets.
        package func close(_ hosts: [RemoteHost]) {
            for host in hosts {
                _ = BoundedProcess(
                    "ssh", arguments: host.options + ["-O", "exit", "--", host.name],
                    variables: ProcessInfo.processInfo.environment, limits: .init(seconds: 5))
            }
            try? FileManager.default.removeItem(atPath: directory)  // What is left does no harm.
        }
    }

    private var options: [String] {
        guard let connections else { return ["-o", "BatchMode=yes", "-o", "ConnectTimeout=10"] }
        return [
            "-o", "ControlMaster=auto", "-o", "ControlPath=\(connections.directory)/%C", "-o", "ControlPersist=60",
            "-o", "ConnectTimeout=15",
        ]
    }

    package struct Outcome: Sendable {
        package var status: Int32
        package var output: String
        package var errors: String

        package init(status: Int32, output: String, errors: String) {
            self.status = status
            self.output = output
            self.errors = errors
        }

        /// What it said last, for a person.
        package var reason: String {
            // ssh ends its lines with a carriage return too.
            let line = [errors, output].lazy.compactMap { $0.split(whereSeparator: \.isNewline).last }.first
            return line.map(String.init) ?? "exit status \(status)"
        }
    }

    /// A command line that every login shell reads the same way. The script itself comes by standard input, before what
    /// it reads from there: other users of the host see neither.
    private func arguments(for script: String) -> [String] {
        let reader = #"script=$(dd bs=1 count=\#(script.utf8.count) 2>/dev/null) && eval "$script""#
        return options + ["--", name, "exec /bin/sh -c '\(reader)'"]
    }

    /// Runs a script of `/bin/sh`.
    ///
    /// - Parameters:
    ///   - input: for the programs of the script.
    ///   - seconds: until it is given up.
    package func run(_ script: String, input: String = "", seconds: Double) -> Outcome {
        let process = BoundedProcess(
            "ssh", arguments: arguments(for: script), input: Data((script + input).utf8),
            variables: ProcessInfo.processInfo.environment,
            limits: .init(seconds: seconds, outputByteCount: 2_097_152, errorByteCount: 16_384), group: .shared)
        let output = String(decoding: process.output, as: UTF8.self)
        let errors = String(decoding: process.errors, as: UTF8.self)
        return switch process.end {
        case .exited(let status): Outcome(status: status, output: output, errors: errors)
        case .outOfTime: Outcome(status: 255, output: output, errors: "no end after \(Int(seconds)) seconds")
        case .notStarted: Outcome(status: 255, output: "", errors: "ssh is not on this machine")
        case .tooMuchOutput, .cancelled: Outcome(status: 255, output: "", errors: "too much output")
        }
    }

    /// Runs a script of `/bin/sh` whose standard input is what a program here prints, such as an archive.
    package func run(_ script: String, inputOf program: String, _ arguments: [String]) -> Outcome {
        func failure(_ reason: String) -> Outcome { Outcome(status: 255, output: "", errors: reason) }
        guard var pipe = PipeEnds() else { return failure("no descriptors left") }
        defer { pipe.close() }
        // It fits into the pipe.
        guard write(pipe.writing, script, script.utf8.count) == script.utf8.count,
            let source = ChildProcess(
                program, arguments: arguments, output: pipe.writing, errors: STDERR_FILENO, leadsGroup: true)
        else { return failure("cannot run \(program): \(String(cString: strerror(errno)))") }
        let target = ChildProcess(
            "ssh", arguments: self.arguments(for: script), standardInput: pipe.reading, errors: STDERR_FILENO)
        pipe.close()
        let status = target?.wait()
        if status != 0 { source.send(SIGTERM) }
        let sourceStatus = source.wait()
        return switch status {
        case nil: failure("ssh is not on this machine")
        case 0 where sourceStatus != 0: failure("\(program) ended with \(sourceStatus)")
        case 0: Outcome(status: 0, output: "", errors: "")
        case let status?: Outcome(status: status, output: "", errors: "the copy ended with \(status)")
        }
    }
}
