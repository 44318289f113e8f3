// How a program of ours starts and ends: its arguments, its command line, and the exit status of an
// error. Not here: output and signals (Console).

package import ArgumentParser
import Essentials

extension ParsableCommand {
    /// Runs the command that the arguments name and ends the process if it fails. To be called by `main`, first
    /// of all: it prepares standard output and standard error.
    ///
    /// - Parameters:
    ///   - arguments: by default those of the process.
    @MainActor
    package static func runProgram(_ arguments: [String]? = nil) async {
        Console.start(program: configuration.commandName ?? "")
        do {
            var command = try parseAsRoot(arguments ?? ProgramArguments.given)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            Console.exit(
                for: error, message: withoutPasswords(fullMessage(for: error)), status: exitCode(for: error).rawValue)
        }
    }

    /// The parser quotes addresses as they were given.
    private static func withoutPasswords(_ message: String) -> String {
        var (text, rest) = ("", message[...])
        while let at = rest.firstIndex(of: "@") {
            let before = rest[..<at]
            let login = before.lastIndex { $0 == "/" || $0.isWhitespace }.map { before.index(after: $0) }
            if let login, before[..<login].hasSuffix("//"), before[login...].contains(":") {
                text += before[..<login] + "…@"
            } else {
                text += rest[...at]
            }
            rest = rest[rest.index(after: at)...]
        }
        return text + rest
    }
}
