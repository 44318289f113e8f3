import Commands
import Essentials
import UsagePusher

/// A program that delivers an alert.
enum ProgramRun {
    /// As plug-ins have them, and what leads to the user's desktop.
    static func variables(from all: [String: String]) -> [String: String] {
        let desktop = ["DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"]
        let names = PluginRuns.inheritedVariables + desktop + ["HOME"]
        return all.filter { names.contains($0.key) }
    }

    /// Waits for the end on a thread of its own; the program is killed when the task is cancelled.
    static func run(
        _ program: String, _ arguments: [String], input: Data = Data(), variables: [String: String]
    ) async -> BoundedProcess {
        await BlockingWork.run("program") { isCancelled in
            BoundedProcess(
                confined: program, arguments: arguments, input: input, variables: variables,
                limits: ProgramLimits(outputByteCount: 65_536), isCancelled: isCancelled)
        }
    }
}

extension BoundedProcess {
    /// Why it did not do what it should; nil if it did.
    func failure(of program: String) -> String? {
        switch end {
        case .exited(0): nil
        case .exited(127): "\(program) was not found"
        case .exited(let status):
            "\(program) ended with status \(status)" + (firstErrorLine.map { ": " + $0 } ?? "")
        case .outOfTime: "\(program) was stopped after 10 s"
        case .tooMuchOutput: "\(program) was stopped, since it printed more than 64 KiB"
        case .cancelled: "cancelled"
        case .notStarted: "\(program) could not be started"
        }
    }
}
