import CShims
import Essentials

/// The arguments of this process, with the name that it was started by.
package enum ProgramArguments {
    /// As `main` got them. `CommandLine.arguments` looks for them beside the environment, and is empty when the
    /// environment has moved before: a preloaded library that sets a variable is enough.
    package static let all: [String] = {
        var all: [String] = []
        while let argument = original[all.count] { all.append(String(cString: argument)) }
        return all
    }()

    private static var original: UnsafePointer<UnsafeMutablePointer<CChar>?> {
        program_arguments() ?? UnsafePointer(CommandLine.unsafeArgv)
    }

    /// The name that the program was started by: `installed` where it has that, because the system has another program
    /// called `name`.
    package static func program(_ name: String, installed: String) -> String {
        let last = all.first?.split(separator: "/").last
        return last.map(String.init) == installed ? installed : name
    }

    /// Without the name of the program. Ends it if one is not UTF-8: as text it would be another key, value or file.
    package static var given: [String] { given() }

    /// - Parameter command: behind whose first "--" arguments may be any bytes, as it passes them on with `become`.
    package static func given(passedOnBy command: String? = nil) -> [String] {
        let given = Array(all.dropFirst())
        let end = given.first == command ? given.firstIndex(of: "--") : nil
        for index in given[..<(end ?? given.endIndex)].indices {
            guard let bytes = original[index + 1], String(validatingCString: bytes) == nil else { continue }
            // Not its text, which may be a secret.
            let failure = CommandFailure(
                .usage, "argument \(index + 1) is not UTF-8, as keys, values and names of files have to be here")
            Console.exit(for: failure, message: "", status: failure.exitStatus.rawValue)
        }
        return given
    }

    /// Runs the program that an argument names, with the arguments behind it, byte for byte, in place of this one: with
    /// its streams, environment and signals. Returns only if that fails, with the reason in `errno`.
    package static func become(at index: Int) {
        guard let program = original[index] else { return }
        Console.withInheritedSignals { _ = execvp(program, original + index) }
    }
}
