import ArgumentParser
import Commands
import Essentials
import TerminalText

/// Another program of this package, installed beside this one.
enum Sibling: String, CaseIterable, Sendable {
    case view = "usage-view"
    case push = "usage-push"
    case kvs
    case daemon = "kvsd"
    case clip
    case link

    /// By the name that `ubq` has for it; nil for a command of its own.
    static func named(_ name: String) -> Sibling? {
        switch name {
        case "view": .view
        case "push": .push
        case "daemon": .daemon
        default: allCases.first { $0.rawValue == name }
        }
    }

    /// Other packages of Debian have programs called `link` and `clip`.
    var installedName: String {
        switch self {
        case .clip, .link: "ubiquity-\(rawValue)"
        default: rawValue
        }
    }

    /// Its absolute path.
    ///
    /// - Throws: unless it is beside this program or in a directory of the search path.
    func path() throws(CommandFailure) -> String {
        let own = ProgramLocation.current(name: "ubq").path
        let directory = own.lastIndex(of: "/").map { String(own[..<$0]) } ?? "."
        let beside = [installedName, rawValue].map { "\(directory)/\($0)" }.first(where: SearchPath.isProgram)
        guard let path = beside ?? SearchPath().path(of: installedName) else {
            throw CommandFailure(
                .unavailable, "\(installedName) is neither beside \(own) nor in your PATH; install the package again")
        }
        return path
    }

    /// Runs it instead of this program.
    ///
    /// - Returns: why it cannot be run.
    func become(_ arguments: [String]) -> CommandFailure {
        do throws(CommandFailure) {
            let path = try path()
            ChildProcess.become(path, arguments: [path] + arguments)
            return CommandFailure(.unavailable, "cannot run \(path): \(String(cString: strerror(errno)))")
        } catch {
            return error
        }
    }

    /// Runs it to its end on this terminal.
    func run(_ arguments: [String]) throws(CommandFailure) -> Int32 {
        let path = try path()
        guard let child = ChildProcess(path, arguments: arguments) else { throw Self.cannotRun(path) }
        return child.wait()
    }

    /// How a run ended that showed nothing.
    struct Outcome: Sendable, Equatable {
        var status: Int32
        var output: Data
        /// What it said on standard error, without its name.
        var message: String
    }

    /// Runs it to its end without a terminal, at most for a minute.
    func capture(_ arguments: [String], input: String? = nil) throws(CommandFailure) -> Outcome {
        let path = try path()
        let process = BoundedProcess(
            path, arguments: arguments, input: Data((input ?? "").utf8),
            variables: ProcessInfo.processInfo.environment,
            limits: .init(seconds: 60, outputByteCount: 8_388_608, errorByteCount: 16_384))
        let errors = String(decoding: process.errors, as: UTF8.self)
            .split(separator: "\n").map { String($0.trimmingPrefix("\(rawValue): ")) }.joined(separator: "\n")
        switch process.end {
        case .exited(let status): return Outcome(status: status, output: process.output, message: errors)
        case .notStarted: throw Self.cannotRun(path)
        case .outOfTime: throw CommandFailure(.temporaryFailure, "\(rawValue) did not end within a minute")
        case .tooMuchOutput, .cancelled: throw CommandFailure(.dataError, "\(rawValue) printed too much")
        }
    }

    /// The JSON that it prints; nil if it prints none.
    func report<Report: Decodable>(_ type: Report.Type, _ arguments: [String]) throws(CommandFailure) -> Report? {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let text = try decoder.singleValueContainer().decode(String.self)
            let style = Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains("."))
            return try style.parse(text)
        }
        // Another version may print something else, and says on standard error what fails.
        return try? decoder.decode(Report.self, from: try capture(arguments).output)
    }

    private static func cannotRun(_ path: String) -> CommandFailure {
        CommandFailure(.unavailable, "cannot run \(path): \(String(cString: strerror(errno)))")
    }
}
