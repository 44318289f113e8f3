import ArgumentParser
import CommandSupport
import Foundation
import UsagePusher

/// `usage-push sources`.
struct SourcesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sources",
        abstract: "List what was found where, how certain and how old it is.",
        discussion: """
            Reads the files as a push does, and pushes nothing. Enabled plug-ins that are due run \
            first; see 'usage-push config'.

            CERTAINTY
              exact          the provider's own number, reported as it changes
              cached-exact   the provider's own number, as old as its age
              –              no usable number; the line below says why

            EXAMPLES
              usage-push sources
              usage-push sources --provider claude
              usage-push sources --json
            """)

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var reading: ReadingOptions

    func run() throws {
        var builder = reading.builder(device: DeviceIdentity(id: nil, name: ""))
        builder.pluginRuns?.runDue()
        let now = Date()
        builder.readThoroughly(at: now)
        let listing = SourcesListing(
            reports: builder.reports, now: now, home: builder.environment.home)
        if json {
            try Console.printJSON(listing.document, isIndented: true)
        } else {
            for line in listing.lines(width: TerminalWidth.ofOutput) { try Console.print(line) }
        }
    }
}
