import ArgumentParser
import Commands
import Essentials
import LocalFiles

struct InstallCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install", abstract: "Open airmail: links with this program.",
        discussion: """
            Writes a desktop entry for your user, \(DesktopEntry.identifier), and makes it the default \
            for airmail: links. Asks first if another application is the default, which 'uninstall' \
            restores. The entry names this program at its present path: install again after it moved.
            """)

    @Flag(help: "Print the entry, and change nothing.")
    var print = false

    @Flag(help: "Replace another default application without asking.")
    var yes = false

    func run() throws {
        let program = OwnProgram.path
        guard let text = DesktopEntry.text(program: program) else {
            throw CommandFailure(.configuration, "a desktop entry cannot name \(program); move the program")
        }
        if print { return try Console.write(Data(text.utf8)) }
        let registration = Registration()
        let former = Registration.handler(ofScheme: AirmailLink.scheme)
        if let former, former != DesktopEntry.identifier {
            Console.report("airmail: links are opened by \(former) now; uninstall restores it")
            guard try yes || Console.confirm(verb: "replace it") else { return }
        }
        try registration.install(text)
        try Console.print("wrote " + registration.entry.path)
    }
}

struct UninstallCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "uninstall", abstract: "Let the former application open airmail: links again.",
        discussion: "Removes the desktop entry. Settings stay.")

    func run() throws { try Registration().remove() }
}
