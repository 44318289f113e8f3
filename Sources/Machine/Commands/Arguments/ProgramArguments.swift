import CShims
import Essentials

/// The arguments of this process, with the name that it was started by.
package enum ProgramArguments {
    /// As `main` got them. `CommandLine.arguments` looks for them beside the environment, and is empty when the
    /// environment has moved before: a preloaded library that sets a variable is enough.
    package static let all: [String] = {
        guard let arguments = program_arguments() else { return CommandLine.arguments }
        var all: [String] = []
        while let argument = arguments[all.count] { all.append(String(cString: argument)) }
        return all
    }()

    /// The name that the program was started by: `installed` where it has that, because the system has another program
    /// called `name`.
    package static func program(_ name: String, installed: String) -> String {
        let last = all.first?.split(separator: "/").last
        return last.map(String.init) == installed ? installed : name
    }

    /// Without the name of the program.
    package static var given: [String] { Array(all.dropFirst()) }

    /// Runs the program that an argument names, with the arguments behind it, byte for byte, in place of this one: with
    /// its streams, environment and signals. Returns only if that fails, with the reason in `errno`.
    package static func become(at index: Int) {
        let arguments = program_arguments() ?? UnsafePointer(CommandLine.unsafeArgv)
        guard let program = arguments[index] else { return }
        Console.withInheritedSignals { _ = execvp(program, arguments + index) }
    }
}
