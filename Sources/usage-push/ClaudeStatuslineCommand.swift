import ArgumentParser
import CommandSupport
import Foundation
import UsagePusher

/// `usage-push claude-statusline`.
struct ClaudeStatuslineCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "claude-statusline",
        abstract: "Keeps the limits that Claude Code tells its status line.",
        discussion: """
            Claude Code tells a status line command how much of the limits is used: its own \
            numbers, while a session runs. Put this command in front of yours and they are kept, \
            on this machine, for the next push. Nothing else of what Claude Code tells is kept.

            IN ~/.claude/settings.json
              "statusLine": {
                "type": "command",
                "command": "usage-push claude-statusline -- ~/.claude/statusline.sh"
              }

            After -- comes your own command: it gets the same input, and its output is the status \
            line. One argument is a line for the shell, several are a program and its arguments. \
            Without a command the status line stays empty.

            Exits 0 whatever happens, so that a session never suffers from it.
            """)

    @Argument(
        parsing: .postTerminator,
        help: ArgumentHelp("Your own status line command.", valueName: "command"))
    var command: [String] = []

    /// More than Claude Code ever says; what is larger is cut for the command and not kept.
    private static let inputByteCount = 4 * 1_048_576

    func run() {
        guard !InputRelay.isTerminal else {
            Console.note(
                "claude-statusline reads what Claude Code tells a status line; to set it up see:\n"
                    + "  usage-push claude-statusline --help")
            return
        }
        let input = InputRelay.read(upTo: Self.inputByteCount)
        let environment = ReadingOptions.ownEnvironment
        do throws(ClaudeStatuslineStore.Failure) {
            try ClaudeStatuslineStore(environment).keep(statusline: input, at: Date())
        } catch {
            Console.report(error.description)
        }
        guard !command.isEmpty else { return }
        if !InputRelay.run(command, input: input) {
            Console.report("cannot run the status line command '\(command[0])'")
        }
    }
}
