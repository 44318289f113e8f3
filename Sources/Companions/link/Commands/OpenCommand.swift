import ArgumentParser
import Commands
import Essentials
import KVStoreHTTP

struct OpenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open", _superCommandName: ProgramName.text, abstract: "Open an airmail: link.",
        discussion: """
            The link is converted to the chosen form and given to the application for it, or to your \
            command; success prints nothing. Desktops run this with the links that are clicked.

            Without a terminal, errors are also shown by notify-send, zenity or kdialog, and \
            '\(ProgramName.text) log' lists them without the link.
            """)

    @Argument(help: "The link.")
    var url: String

    @Option(name: .customLong("as"), help: "Open it in this form, whichever is chosen.")
    var form: LinkForm?

    @Flag(help: "Print the result, or the arguments of the command one per line; open nothing.")
    var print = false

    /// The command of these arguments if they are valid and name it.
    static func parsed(from arguments: [String]) -> OpenCommand? {
        guard arguments.first == configuration.commandName else { return nil }
        // The general parser reports what is wrong.
        return try? parseAsRoot(Array(arguments.dropFirst())) as? OpenCommand
    }

    func run() throws {
        var chosen = form
        do {
            try open(&chosen)
        } catch {
            guard let error = error as? any ReportableError, !print, !(error is OutputError) else { throw error }
            Alert.log(error, chosen)
            Alert.show(error.description, link: url)
            throw ExitCode(error.exitStatus.rawValue)
        }
    }

    private func open(_ chosen: inout LinkForm?) throws {
        let link = try AirmailLink(url)
        let settings = try DeviceSettings.read()
        let preferences = SyncedPreferences()
        let form = try chosen ?? ChosenForm(settings, preferences: preferences).form
        chosen = form
        let target = try LinkTarget(link, as: form, command: form == .custom ? settings.template() : nil)
        if print { return try Console.write(Data(target.words.map { $0 + "\n" }.joined().utf8)) }
        let launcher = TargetLauncher()
        try launcher.check(target)
        try launcher.open(target) {
            if preferences.environment.isJoined { OwnProgram.startRefresh() }
            if let warning = link.warning(as: form) { Alert.show(warning, link: url, title: Alert.warning) }
        }
    }
}

extension LinkForm: ExpressibleByArgument {}
