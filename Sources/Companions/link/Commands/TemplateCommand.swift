import Essentials
import ArgumentParser
import Commands
import TerminalText

struct TemplateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "command", abstract: "Show or set the command for the form custom.",
        discussion: """
            The command belongs to this machine and is never synced. It is run without a shell. {id} \
            stands for the message id, {id_encoded} for the id as in a URL. What a link contains is from \
            anybody: it is refused where it could be executed, as behind sh, python3, vim or ssh. \
            An id that would become an option is refused unless -- stands before it.

            EXAMPLES
              \(ProgramName.text) command -- notmuch show id:{id}
              \(ProgramName.text) command -- foot mail-show -- {id}
            """)

    @Flag(help: "Remove the command.")
    var remove = false

    @Flag(help: "Print the arguments as a JSON array; null without a command.")
    var json = false

    @Argument(parsing: .postTerminator, help: "The program and its arguments, after '--'.")
    var arguments: [String] = []

    func validate() throws {
        if remove || json, !arguments.isEmpty || remove && json {
            throw ValidationError("--remove, --json and a command exclude each other")
        }
    }

    func run() throws {
        guard remove || !arguments.isEmpty else { return try show() }
        let command = remove ? nil : try CommandTemplate(arguments)
        try DeviceSettings.update { $0.command = command?.arguments }
    }

    private func show() throws {
        let command = try DeviceSettings.read().command
        if json { return try Console.printJSON(command) }
        guard let command else {
            throw CommandFailure(
                .failure, "no command is set on this machine; to set one: \(ProgramName.text) command -- PROGRAM {id}")
        }
        try Console.print(ShownCommand.text(command))
    }
}

/// A command as one would type it.
enum ShownCommand {
    static func text(_ arguments: [String]) -> String {
        arguments.map { argument in
            let visible = VisibleText.escape(argument)
            let isPlain =
                visible.utf8.allSatisfy { $0 == 0x7B || $0 == 0x7D }
                || ShellWord.isPlain(visible.filter { $0 != "{" && $0 != "}" })
            return isPlain ? visible : ShellWord.inQuotes(visible)
        }
        .joined(separator: " ")
    }
}
