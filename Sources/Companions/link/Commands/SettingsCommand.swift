import ArgumentParser
import Commands
import Essentials
import TerminalText

struct SettingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings", abstract: "Show the settings; on a terminal, ask for another form.",
        discussion: "This is what happens without a subcommand. Uses no network.")

    @Flag(help: "Print a JSON object.")
    var json = false

    func run() async throws {
        let report = try LinkReport { DesktopFiles().application(forScheme: $0)?.id }
        if json { return try Console.printJSON(report, isIndented: true) }
        for line in report.lines { try Console.print(line) }
        if !report.isInstalled, let problem = report.problems.last {
            try Console.print("\n" + VisibleText.escape(problem))
        }
        guard Console.isInputTerminal, Console.isOutputTerminal else { return }
        try await ask()
    }

    /// Until the user has chosen, or leaves by an empty line.
    private func ask() async throws {
        while true {
            Console.note("\nOpen them on all machines as [1-4, Enter to leave]: ", terminator: "")
            guard let answer = readLine()?.trimmed().lowercased(), !answer.isEmpty else { return }
            let number = Int(answer).flatMap { number in
                (1...LinkForm.allCases.count).contains(number) ? LinkForm.allCases[number - 1] : nil
            }
            if let form = number ?? LinkForm(rawValue: answer) {
                try await SetCommand.choose(form, isForDevice: false)
                let chosen = try LinkReport { _ in nil }
                return try Console.print(chosen.lines[0])
            }
            Console.note("not one of 1 to \(LinkForm.allCases.count)")
        }
    }
}

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Show what can be opened on this machine, and what is wrong.",
        discussion:
            "Exits 0 if links are opened by this program and the chosen form can be, else 1.")

    @Flag(help: "Print a JSON object.")
    var json = false

    func run() throws {
        let hasTool = OwnProgram.isExecutable("xdg-mime")
        var report = try LinkReport { scheme in
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

struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "List the last errors that no terminal has shown.",
        discussion: "At most a hundred. They contain neither ids nor addresses.")

    @Flag(help: "Print a JSON array.")
    var json = false

    func run() throws {
        let entries = try ErrorLog().entries()
        if json { return try Console.printJSON(entries, isIndented: true) }
        var table = TextTable(columns: [.init(""), .init(""), .init(""), .init("")])
        for entry in entries {
            table.append([
                entry.time.ISO8601Format(), entry.error, entry.form?.rawValue ?? "-",
                entry.status.map { "status \($0)" } ?? "",
            ])
        }
        for line in table.lines() { try Console.print(line) }
    }
}
