import Commands
import Essentials

/// Begins this program again, in the same process and with the same arguments, so that whoever supervises it sees one
/// run.
enum ProgramRestart {
    /// Returns only if it fails.
    static func perform() -> CommandFailure {
        let arguments = ProgramArguments.all
        let path = ProgramLocation.current(name: "kvsd").path
        var pointers = arguments.map { strdup($0) }
        pointers.append(nil)
        defer { for pointer in pointers { free(pointer) } }
        execv(path, pointers)
        return CommandFailure(.failure, "cannot start \(path) again: \(String(cString: strerror(errno)))")
    }
}
