// The history of the clipboard: collecting, listing, copying out, sharing. Not here: what it decides (Core), and how
// values are sealed (KVStoreSealed).

import ArgumentParser
import Commands
import Essentials

@main
enum Program {
    static func main() { ProgramStart.run(ProgramName.text) { await Clip.main() } }
}

struct Clip: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: ProgramName.text,
        abstract: "Keep the history of the clipboard, on this machine or on all of yours.",
        discussion: """
            Copies are kept by 'collect', or one at a time by 'add', unless they are marked as secret, look \
            like a token or match a rule of yours. Items are named by their number in the list, their id or its \
            beginning (after -- if it begins with a dash), or the letter of a pin.

            EXAMPLES
              \(ProgramName.text) collect --install   keep copies from now on, as a service of your user
              \(ProgramName.text) pick                search the history; Enter copies
              \(ProgramName.text) list | fzf | \(ProgramName.text) select -
              \(ProgramName.text) sync on             share it with your other machines, sealed
              \(ProgramName.text) import copyq        take over the history of another program

            EXIT STATUS
              0 success · 1 no such item, not kept, or left without copying
              64 usage error · 65 the file is no history · 66 there is no such file
              69 no clipboard here, it failed, or the contents are on another machine
              73, 74 the disk is full, or files or output cannot be read or written
              75 another collector runs · 77 no account joined, or the token is rejected
              78 no content key, or the history is not shared

            Files: history and contents are in 'clip' of $UBIQUITY_DATA_DIR, else $XDG_DATA_HOME/ubiquity, \
            else ~/.local/share/ubiquity; settings of this machine in clip.json of the configuration directory.
            """,
        version: ProgramVersion.text,
        subcommands: [
            PickCommand.self, ListCommand.self, GetCommand.self, SelectCommand.self, AddCommand.self, StoreCommand.self,
            CollectCommand.self, PinCommand.self, UnpinCommand.self, DeleteCommand.self, ClearCommand.self,
            PauseCommand.self, ResumeCommand.self, IgnoreNextCommand.self, RulesCommand.self, SettingsCommand.self,
            SyncCommand.self, StatusCommand.self, ImportCommand.self,
        ])

    static func main() async { await runProgram(subcommandsFirst(ProgramArguments.given)) }
}

/// The name that the program is installed by: a program of Debian's geomview is named `clip`.
enum ProgramName {
    static let installed = "ubiquity-clip"

    static let text = ProgramArguments.program("clip", installed: installed)
}
