import ArgumentParser
import Commands
import Essentials
import LocalFiles
import UsagePusher

extension ConfigCommand {
    struct Ledger: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "ledger", abstract: "Choose what this machine shares of its past usage.",
            discussion: """
                A push also publishes what this machine's logs have ever contained, in the store usage-ledger, so that \
                'usage-view report' adds up years on all machines, even after the tools have deleted their logs: \
                tokens, costs and models by hour, day and session, without prompts, paths or names of sessions. Of \
                projects only hashes leave the machine unless you choose otherwise: with sealed, names that only \
                devices with the content key of 'kvs seal' can read, with named, names that the daemon can read. What \
                has been published stays when this is switched off; docs/ledger.md says how to remove it.
                """)

        @Option(help: ArgumentHelp("hashed (default), sealed, named, or none.", valueName: "what"))
        var projects: LedgerProjects.Disclosure?

        @Flag(inversion: .prefixedNo, help: "Share it (default), or not.")
        var share: Bool?

        func run() throws {
            let file = PusherConfigurationFile()
            var settings = LedgerSettings()
            try file.locked {
                settings = LedgerSettings.read(file)
                if let projects { settings.projects = projects }
                if let share { settings.isOff = !share }
                guard projects != nil || share != nil else { return }
                try CommandFailure.ending(.cannotCreate) { () throws(FileError) in try settings.write(file) }
            }
            try Console.print(
                settings.isOff
                    ? "past usage is not shared" : "past usage is shared, with projects \(settings.projects.rawValue)")
        }
    }
}

extension LedgerProjects.Disclosure: ExpressibleByArgument {}
