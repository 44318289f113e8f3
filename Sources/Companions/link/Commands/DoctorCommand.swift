import Essentials
import ArgumentParser
import Commands
import TerminalText

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Show what can be opened on this machine, and what is wrong.",
        discussion:
            "Exits 0 if links are opened by this program and the chosen form can be, else 1.")

    @Flag(help: "Print a JSON object.")
    var json = false

    func run() throws {
        let hasTool = OwnProgram.isExecutable("xdg-mime")
        var report = try LinkReport.onThisMachine { scheme in
            hasTool ? Registration.handler(ofScheme: scheme) : DesktopFiles().application(forScheme: scheme)?.id
        }
        for tool in ["xdg-open", "xdg-mime"] where !OwnProgram.isExecutable(tool) {
            report.problems.append("\(tool) is not on this machine; install xdg-utils")
        }
        if json {
            try Console.printJSON(report, isIndented: true)
        } else {
            for line in report.lines { try Console.print(line) }
            try Console.print(
                "\nairmail: links are opened by " + VisibleText.escape(report.airmailHandler ?? "no application"))
            for problem in report.problems { try Console.print("problem: " + VisibleText.escape(problem)) }
        }
        if !report.problems.isEmpty { throw ExitCode(ExitStatus.failure.rawValue) }
    }
}
