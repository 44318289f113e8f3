import ArgumentParser
import Commands
import Essentials
import LocalFiles
import UsagePusher

struct ClaudeStatuslineCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "claude-statusline", _superCommandName: "usage-push",
        abstract: "Save the limits that Claude Code passes to its status line.",
        discussion: """
            Claude Code passes the exact limits to a status line command while a session runs. \
            Put this command in front of yours to save them, on this machine, for the next push. \
            Nothing else of the input is saved but, for the gate, the model in use. 'usage-push setup' \
            does that for you.

            IN ~/.claude/settings.json
              "statusLine": {
                "type": "command",
                "command": "usage-push claude-statusline -- ~/.claude/statusline.sh"
              }

            Your own command follows --: it receives the same input, and its output is the status \
            line. A single argument is run by the shell, several are a program and its arguments. \
            Without a command the status line stays empty.

            Always exits 0, so that a session is never disturbed.
            """)

    @Argument(parsing: .postTerminator, help: ArgumentHelp("Your own status line command.", valueName: "command"))
    var command: [String] = []

    /// Far more than Claude Code passes; a longer input is truncated for the command and not saved.
    private static let inputByteCount = 4 * 1_048_576

    func run() { Self.capture(command) }

    /// The user's own command in the arguments that `usage-push setup` writes; nil for others.
    ///
    /// A status line runs after every message, and the general parser takes milliseconds.
    static func command(in arguments: some Collection<String>) -> [String]? {
        guard arguments.first == "claude-statusline" else { return nil }
        let rest = arguments.dropFirst()
        return rest.isEmpty || rest.first == "--" ? Array(rest.dropFirst()) : nil
    }

    /// Saves the limits in standard input and runs the command.
    static func capture(_ command: [String]) {
        guard !InputRelay.isTerminal else {
            Console.note(
                "claude-statusline reads the input of a Claude Code status line; to set it up, run:\n"
                    + "  usage-push setup")
            return
        }
        let input = InputRelay.read(upTo: inputByteCount)
        // Saving takes place while the command runs.
        let child = command.isEmpty ? nil : InputRelay.start(command, input: input)
        if !command.isEmpty, child == nil { Console.report("cannot run the status line command '\(command[0])'") }
        do throws(FileError) {
            let environment = ReadingOptions.ownEnvironment
            try ClaudeStatuslineStore(environment).save(
                statusline: input, account: ClaudeSource.presentAccount(in: environment), at: Date())
        } catch {
            Console.report("the status line's limits are not saved: \(error)")
        }
        GateFiles().updateModel(from: input)
        child?.wait()
    }
}
