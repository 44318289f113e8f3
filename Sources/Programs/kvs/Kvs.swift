// The command for raw keys and for joining a daemon. Not here: the store, and how values are synced
// (KVStoreEssentials, KVStoreHTTP).

import ArgumentParser
import Commands
import Essentials
import KVStoreEssentials

@main
enum Program {
    static func main() {
        Console.start(program: "kvs")
        do {
            if try GetCommand.printsAtOnce(ProgramArguments.given) { return }
        } catch {
            Console.exit(for: error, message: "\(error)", status: ExitStatus.ioError.rawValue)
        }
        ProgramStart.run("kvs") { await Kvs.main() }
    }
}

struct Kvs: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kvs",
        abstract: "Read and write the keys of your key-value store, and join its account.",
        discussion: """
            Values are written locally first, then synced to the daemon, so every command also works \
            offline and before an account is joined.

            Exit status: 0 success; 1 missing key or device; 64 usage error, invalid key, name or value; \
            65 invalid document or quota exceeded; 69 daemon unreachable or request refused; \
            73 a file cannot be created or the disk is full; 74 input or output failed; \
            75 stored locally but not synced (with --require-sync); 77 the token is rejected, \
            lacks a scope or is readable by others; 78 no account joined, or no content key.

            Files: the replica is in $UBIQUITY_DATA_DIR, else $XDG_DATA_HOME/ubiquity, else \
            ~/.local/share/ubiquity; the credentials are in $UBIQUITY_CONFIG_DIR, else \
            $XDG_CONFIG_HOME/ubiquity, else ~/.config/ubiquity. $UBIQUITY_DAEMON, a URL or 'emulator', and \
            $UBIQUITY_TOKEN take the place of the credentials; $UBIQUITY_KEY pins the daemon's key.
            """,
        version: ProgramVersion.text,
        subcommands: [
            GetCommand.self, SetCommand.self, RemoveCommand.self, ListCommand.self, WatchCommand.self, SyncCommand.self,
            StatusCommand.self, ExportCommand.self, ImportCommand.self, JoinCommand.self, LeaveCommand.self,
            DeviceCommand.self, PairCommand.self, SealCommand.self,
        ])

    static func main() async { await runProgram(NegativeNumbers.arranged(ProgramArguments.given)) }
}
