// How a program of ours starts and ends: its arguments, its command line, and the exit status of an
// error. Not here: output and signals (Console).

package import ArgumentParser
import Dispatch
import Essentials

/// How a program of ours begins.
package enum ProgramStart {
    /// Runs what the program does and ends it with success, unless that has ended it. To be called by a synchronous
    /// `main`: the entry point of an asynchronous one has the same name in every program, and one file is all of them.
    ///
    /// - Parameter name: see `Console.start`.
    package static func run(_ name: String, _ body: @escaping @MainActor () async -> Void) -> Never {
        // Before anything opens a descriptor, which would take the place of a closed one.
        Console.start(program: name)
        startHere {
            await body()
            exit(ExitStatus.success.rawValue)
        }
        dispatchMain()
    }
}

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
            var command = try self.command(arguments ?? ProgramArguments.given)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            Console.exit(for: error, message: fullMessage(for: error), status: exitCode(for: error).rawValue)
        }
    }

    /// A command that states the program's name is parsed without the program around it, whose options, commands and
    /// requests for completions would take two thirds of the parser's time.
    private static func command(_ arguments: [String]) throws -> any ParsableCommand {
        if let name = arguments.first,
            let type = configuration.subcommands.first(where: { $0.configuration.commandName == name }),
            type.configuration._superCommandName != nil,
            // The general parser says what is wrong.
            let command = try? type.parseAsRoot(Array(arguments.dropFirst())),
            // Else it is the command that prints help, without what the program adds.
            Swift.type(of: command) == type
        {
            return command
        }
        return try parseAsRoot(arguments)
    }

    /// The arguments with the names of subcommands first, so that options may stand before them too.
    ///
    /// Options that stand before a name go to the command that it names. Nothing after `--` is moved.
    package static func subcommandsFirst(_ arguments: [String]) -> [String] {
        let options = arguments.prefix { $0 != "--" }
        let isVersion = options.contains("--version") || options.contains("--help")
        guard !isVersion, let first = options.first,
            let place = first.hasPrefix("-") ? options.firstIndex(where: { subcommand($0) != nil }) : 0,
            let command = subcommand(options[place])
        else { return arguments }
        var rest = arguments
        rest.remove(at: place)
        return [options[place]] + command.subcommandsFirst(rest)
    }

    private static func subcommand(_ name: String) -> (any ParsableCommand.Type)? {
        configuration.subcommands.first { $0._commandName == name }
    }
}
