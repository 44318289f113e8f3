// The program that opens 'airmail:' links. Not here: what a link becomes (Core), and the
// store that carries the user's choice to other machines (KVStore).

import ArgumentParser
import Commands
import Essentials

struct Link: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: ProgramName.text,
        abstract: "Open airmail: links with Hookmark, a mail client or a command of yours.",
        discussion: """
            Without a subcommand it shows the settings, and on a terminal asks for another form. The \
            form is chosen once for all machines of your account, and kept by each of them; 'set \
            --device' chooses for this machine alone.

            Nothing of a link is stored, logged or synced, and opening one waits for no network: this \
            machine's replica is read each time, and refreshed afterwards for the next time.

            EXAMPLES
              \(ProgramName.text) install               open airmail: links with this program
              \(ProgramName.text) set mid               open them as mid: links, with Thunderbird
              \(ProgramName.text) command -- mail-show {id}
              \(ProgramName.text) set custom --device   open them with this command, only here
              \(ProgramName.text) doctor                what can be opened on this machine

            EXIT STATUS
              0 opened, or shown · 1 doctor has found a problem, or no command is shown
              64 usage error · 65 not a link that can be converted
              69 no application opens it, it failed, or the daemon is unreachable
              73 the desktop entry cannot be written
              74 the replica, settings or output cannot be read or written
              77 the credentials are readable by others
              78 no command is set, no account is joined, or there would be a loop
            """,
        version: ProgramVersion.text,
        subcommands: [
            OpenCommand.self, SettingsCommand.self, SetCommand.self, UnsetCommand.self, TemplateCommand.self,
            InstallCommand.self, UninstallCommand.self, DoctorCommand.self, LogCommand.self, SyncCommand.self,
        ],
        defaultSubcommand: SettingsCommand.self)
}

/// Where the program starts.
///
/// Links are opened here, because somebody waits for it: the threads that asynchronous commands need are not started,
/// and no request for completions is looked for.
@main
enum Program {
    static func main() {
        Console.start(program: ProgramName.text)
        let arguments = Link.subcommandsFirst(ProgramArguments.given)
        if let command = OpenCommand.parsed(from: arguments) {
            do {
                return try command.run()
            } catch {
                Console.exit(for: error, message: "", status: OpenCommand.exitCode(for: error).rawValue)
            }
        }
        ProgramStart.run(ProgramName.text) { await Link.runProgram(arguments) }
    }
}

/// The name that the program is installed by. POSIX has a `link` of its own.
enum ProgramName {
    static let installed = "ubiquity-link"

    static let text = ProgramArguments.program("link", installed: installed)
}
