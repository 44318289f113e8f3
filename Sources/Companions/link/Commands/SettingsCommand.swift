import ArgumentParser
import Commands
import Essentials
import TerminalText

struct SettingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Show the settings; on a terminal, ask for another form.",
        discussion: "This is what happens without a subcommand. Uses no network.")

    @Flag(help: "Print a JSON object.")
    var json = false

    func run() async throws {
        let report = try LinkReport.onThisMachine { DesktopFiles().application(forScheme: $0)?.id }
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
                let chosen = try LinkReport.onThisMachine { _ in nil }
                return try Console.print(chosen.lines[0])
            }
            Console.note("not one of 1 to \(LinkForm.allCases.count)")
        }
    }
}
