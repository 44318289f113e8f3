import ArgumentParser
import CommandSupport
import KVStore
import TerminalText

@main
struct Kvs: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kvs",
        abstract: "Reads and writes the keys of your key-value store, and joins its account.",
        discussion: """
            Values are kept on this machine first and sent to the daemon then, so every command also \
            works offline and before an account has been joined.

            Exit status: 0 done; 1 the key is missing; 64 wrong usage, key, store name or value; \
            65 a document or the quota does not allow it; 69 the daemon is not reachable or refuses; \
            73 a file cannot be made or the disk is full; 74 reading or writing failed; \
            75 stored here but not sent (with --require-sync); 77 the token is not accepted or \
            exposed; 78 no account has been joined.

            Files: the replica is in $UBIQUITY_DATA_DIR, else $XDG_DATA_HOME/ubiquity, else \
            ~/.local/share/ubiquity; the credentials are in $UBIQUITY_CONFIG_DIR, else \
            $XDG_CONFIG_HOME/ubiquity, else ~/.config/ubiquity.
            """,
        version: ProgramVersion.text,
        subcommands: [
            GetCommand.self, SetCommand.self, RemoveCommand.self, ListCommand.self,
            WatchCommand.self, SyncCommand.self, StatusCommand.self, ExportCommand.self,
            ImportCommand.self, JoinCommand.self, LeaveCommand.self,
        ])

    static func main() async {
        Console.start(program: "kvs", escaping: VisibleText.escape)
        do {
            var command = try parseAsRoot(
                NegativeNumbers.arranged(Array(CommandLine.arguments.dropFirst())))
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            let error = (error as? StoreError).map(CommandFailure.init) ?? error
            Console.exit(
                for: error, message: fullMessage(for: error),
                status: exitCode(for: error).rawValue)
        }
    }
}
