import ArgumentParser
import Commands
import Essentials
import TerminalText

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
