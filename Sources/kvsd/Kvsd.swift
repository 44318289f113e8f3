// The daemon's command line: settings, administration and the emulator's options. Not here: what
// serves (KVStoreServer) and what emulates (KVStoreEmulator).

import ArgumentParser
import Commands
package import Essentials
import KVStoreEssentials
import KVStoreServer

@main
enum Program {
    static func main() { ProgramStart.run("kvsd") { await Kvsd.main() } }
}

struct Kvsd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kvsd",
        abstract: "Serves key-value stores to the devices of an account.",
        discussion: """
            Start it, pair a device, and join on that device:

              kvsd serve --listen 0.0.0.0       serve other machines too, over TLS
              kvsd pair                         print a line for one device
              kvs join 'ubiquity://…'

            All data is in one directory: --data, else $UBIQUITY_DATA_DIR/kvsd, else \
            $XDG_DATA_HOME/ubiquity/kvsd, else ~/.local/share/ubiquity/kvsd.

            Exit status: 0 success; 64 invalid usage; 65 invalid or unknown device or account, or invalid \
            backup; 66 no data; \
            69 cannot listen; 70 stopping took too long; 73 cannot create the data directory or a file; \
            74 a file cannot be read or written, or data is damaged; 75 another kvsd uses the directory, or \
            the database cannot be reached or used; \
            77 root is needed; 78 invalid configuration, or the schema of a newer kvsd; 128 plus the number of a second signal.
            """,
        version: ProgramVersion.text,
        subcommands: [
            Serve.self, EmulatorCommand.self, Pair.self, DeviceCommand.self, AccountCommand.self,
            StoreCommand.self,
            ServiceCommand.self, StatusCommand.self, CertificateCommand.self, ConfigCommand.self,
            Backup.self, Restore.self,
            Check.self, Dump.self, MigrateCommand.self,
        ],
        defaultSubcommand: Serve.self)

    static func main() async {
        await runProgram()
    }
}

extension ServerError: ReportableError {
    package var exitStatus: ExitStatus {
        switch code {
        case .cannotCreate: .cannotCreate
        case .inUse, .database, .databaseMoved: .temporaryFailure
        case .storage, .unreadable: .ioError
        case .invalidDevice, .invalidAccount, .invalidBackup, .invalidAuthority: .dataError
        case .cannotListen, .ended: .unavailable
        case .invalidDatabase: .configuration
        }
    }
}

extension CommandFailure {
    static func notRunning(_ status: ExitStatus, in directory: DataDirectory, start: String) -> CommandFailure {
        CommandFailure(
            status,
            "no kvsd is running with \(directory.path); start it with \(start), or use --data to name its "
                + "directory")
    }
}
