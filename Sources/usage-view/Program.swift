import Commands
import Essentials

/// Where the program starts.
///
/// A single status line is printed here, because a bar or prompt waits for it, and a hook is answered, because an agent
/// does: starting the threads that asynchronous commands need, and looking for a request for completions, would take
/// half of its time.
@main
enum Program {
    static func main() {
        // Before anything opens a descriptor, which would take the place of a closed one.
        Console.start(program: "usage-view")
        if let hook = GateHook(arguments: ProgramArguments.given) { return hook.run() }
        if let line = StatusPrinting(arguments: ProgramArguments.given) {
            do {
                return try line.print()
            } catch {
                Console.exit(for: error, message: "\(error)", status: ExitStatus.ioError.rawValue)
            }
        }
        ProgramStart.run("usage-view") { await UsageView.main() }
    }
}
