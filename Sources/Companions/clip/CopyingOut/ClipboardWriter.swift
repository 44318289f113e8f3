import Commands
import Essentials

/// Copies to the clipboard that the session has.
struct ClipboardWriter {
    private let environment: [String: String]
    private let search: SearchPath
    private let terminalPath: String

    init(environment: [String: String] = ProcessInfo.processInfo.environment, terminalPath: String = "/dev/tty") {
        self.environment = environment
        self.terminalPath = terminalPath
        search = SearchPath(environment)
    }

    /// Copies one representation; returns how, with the report for the user. Blocks, at most a few seconds.
    ///
    /// - Parameter target: instead of the first that applies.
    /// - Throws: `CopyOut.Failure` if that is not possible here, `CommandFailure` if it does not succeed.
    func copy(_ part: ClipContents.Part, to target: CopyTarget? = nil) throws -> CopyOut {
        let copyOut = try CopyOut.choose(part, in: detected(), to: target)
        switch copyOut.method {
        case .program(let arguments): try run(arguments, part.data)
        case .terminal(let sequence): try writeToTerminal(sequence)
        case .standardOutput: try Console.write(part.data)
        }
        return copyOut
    }

    /// Empties the clipboard.
    ///
    /// - Throws: `CommandFailure` if that does not succeed.
    func clear() throws(CommandFailure) {
        let session = detected()
        if session.hasWaylandDisplay, session.tools.contains(.wlCopy) {
            try run(["wl-copy", "--clear"], Data())
        } else if session.hasX11Display, session.tools.contains(.xclip) {
            try run(["xclip", "-selection", "clipboard"], Data())
        } else {
            // Text that is not base64 clears the clipboard of the terminal.
            try writeToTerminal(Data("\u{1B}]52;c;!\u{7}".utf8))
        }
    }

    /// What is known of the session. Asks only the programs whose answers matter.
    func detected() -> CopyOutEnvironment {
        let tools = CopyOutEnvironment.Tool.allCases.filter { search.path(of: $0.rawValue) != nil }
        return CopyOutEnvironment(
            isRemote: isSet("SSH_CONNECTION") || isSet("SSH_TTY"), hasTerminal: openTerminal().map { close($0) } != nil,
            tmuxVersion: isSet("TMUX") ? answer("tmux", "-V") ?? "unknown" : nil,
            hasWaylandDisplay: isSet("WAYLAND_DISPLAY"), hasX11Display: isSet("DISPLAY"), tools: Set(tools))
    }

    private func isSet(_ variable: String) -> Bool { environment[variable]?.isEmpty == false }

    private func answer(_ program: String, _ argument: String) -> String? {
        guard let path = search.path(of: program) else { return nil }
        let run = BoundedProcess(clipboard: path, [argument], environment: environment, outputByteCount: 65_536)
        return run.isSuccess ? String(decoding: run.output, as: UTF8.self).trimmed() : nil
    }

    private func run(_ arguments: [String], _ data: Data) throws(CommandFailure) {
        let program = arguments[0]
        let run = BoundedProcess(
            clipboard: search.path(of: program) ?? program, Array(arguments.dropFirst()),
            environment: environment, input: data)
        let reason =
            switch run.end {
            case .exited(0): ""
            case .exited(let status): "it exited with \(status)"
            case .outOfTime, .tooMuchOutput, .cancelled:
                "no answer within \(Int(BoundedProcess.clipboardSeconds)) seconds"
            case .notStarted(let code): String(cString: strerror(code)).lowercased()
            }
        guard !run.isSuccess else { return }
        throw CommandFailure(
            .unavailable, "cannot copy with \(program): \(run.complaint.isEmpty ? reason : run.complaint)")
    }

    // MARK: The terminal

    private func openTerminal() -> Int32? {
        let terminal = open(terminalPath, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        return terminal >= 0 ? terminal : nil
    }

    private func writeToTerminal(_ sequence: Data) throws(CommandFailure) {
        guard let terminal = openTerminal() else { throw CommandFailure(.ioError, "cannot open the terminal") }
        defer { close(terminal) }
        do throws(OutputError) {
            try Descriptor.write(sequence, to: terminal, timeout: .seconds(BoundedProcess.clipboardSeconds))
        } catch {
            throw CommandFailure(
                .ioError, "cannot write to the terminal: \(String(cString: strerror(error.code)).lowercased())"
            )
        }
    }
}

extension BoundedProcess {
    /// How long a program may take to read or set a clipboard.
    static let clipboardSeconds = 2.0

    /// Runs a program that reads or sets a clipboard. What it leaves running, as `wl-copy` and `xclip` do to own the
    /// clipboard, goes on.
    ///
    /// - Parameters:
    ///   - environment: all of its variables.
    ///   - outputByteCount: nil if its output is dropped, as it must be for one that stays in the background.
    init(
        clipboard path: String, _ arguments: [String], environment: [String: String], input: Data = Data(),
        outputByteCount: Int? = nil, seconds: Double = clipboardSeconds
    ) {
        self.init(
            path, arguments: arguments, input: input, variables: environment,
            limits: Limits(seconds: seconds, outputByteCount: outputByteCount, errorByteCount: 512), group: .goesOn)
    }

    /// The first line that it wrote to its standard error; not escaped.
    var complaint: String {
        String(decoding: errors, as: UTF8.self).split(separator: "\n").first.map { String($0).trimmed() } ?? ""
    }
}
