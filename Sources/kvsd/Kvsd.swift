import ArgumentParser
import KVStore
import KVStoreServer

@main
struct Kvsd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kvsd",
        abstract: "Keeps key-value stores and brings them to all devices of an account.",
        discussion: """
            Start it, add a device, and join from the machine that the device is:

              kvsd                              serve on 127.0.0.1:8722
              kvsd device add laptop            prints a token, once
              kvs join http://127.0.0.1:8722 --token TOKEN

            Everything is kept in one folder: --data, else $UBIQUITY_DATA_DIR/kvsd,
            else $XDG_DATA_HOME/ubiquity/kvsd, else ~/.local/share/ubiquity/kvsd.
            """,
        version: ProgramVersion.text,
        subcommands: [Serve.self, DeviceCommand.self, Check.self, Dump.self],
        defaultSubcommand: Serve.self)
}

/// The option that every command has.
struct DataOption: ParsableArguments {
    @Option(help: ArgumentHelp("Folder with the daemon's data.", valueName: "dir"))
    var data: String?

    var directory: DataDirectory { DataDirectory(data) }
}
