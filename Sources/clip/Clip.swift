// The history of the clipboard: collecting, listing, copying out, sharing. Not here: what it decides (ClipCore), and how values
// are sealed (KVStoreSealed).

import ArgumentParser
import CommandRunner
import CommandSupport
import KVStoreEssentials
import StoreCommands

@main
struct Clip: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: ProgramName.text,
        abstract: "Keep the history of the clipboard, on this machine or on all of yours.",
        version: ProgramVersion.text,
        subcommands: [
            PickCommand.self, ListCommand.self, GetCommand.self, SelectCommand.self,
            AddCommand.self, StoreCommand.self, CollectCommand.self, PinCommand.self,
            UnpinCommand.self, DeleteCommand.self, ClearCommand.self, PauseCommand.self,
            ResumeCommand.self, IgnoreNextCommand.self, RulesCommand.self, SettingsCommand.self,
            SyncCommand.self, StatusCommand.self, ImportCommand.self,
        ])

    static func main() async { await runProgram(failure: CommandFailure.init(ofStore:)) }
}

/// The name that the program is installed by: a program of Debian's geomview is named `clip`.
enum ProgramName {
    static let installed = "ubiquity-clip"

    static let text: String = {
        let name = ProgramArguments.all.first?.split(separator: "/").last
        return name.map(String.init) == installed ? installed : "clip"
    }()
}
