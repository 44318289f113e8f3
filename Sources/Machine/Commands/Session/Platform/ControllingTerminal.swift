import Essentials

extension TerminalSession {
    /// A session on standard input and output, or, if either is something else, on the terminal that controls the
    /// process, as for a program whose output is read by another. The descriptor of that is open until the process
    /// ends.
    ///
    /// - Parameter advice: for the message of an error: what to do without a terminal.
    package static func controlling(advice: String) throws(CommandFailure) -> TerminalSession {
        var (input, output) = (STDIN_FILENO, STDOUT_FILENO)
        if !Console.isInputTerminal || !Console.isOutputTerminal {
            let descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
            if descriptor >= 0 { (input, output) = (descriptor, descriptor) }
        }
        return try TerminalSession(input: input, output: output, advice: advice)
    }
}
