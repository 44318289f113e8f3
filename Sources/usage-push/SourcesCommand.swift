import ArgumentParser
import CommandSupport
import Foundation
import UsagePusher

/// `usage-push sources`.
struct SourcesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sources",
        abstract: "Lists what was found where, how certain and how old it is.",
        discussion: """
            Reads as a push does, and pushes nothing.

            CERTAINTY
              exact          the provider's own number, as it happens
              cached-exact   the provider's own number, as old as its age
              estimate       computed here against an assumed limit
              tokens-only    tokens are known; no honest percent exists
              –              nothing usable; the line below says why

            EXAMPLES
              usage-push sources
              usage-push sources --provider claude
              usage-push sources --json
            """)

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var reading: ReadingOptions

    func run() throws {
        var builder = try reading.builder(device: DeviceIdentity(id: nil, name: ""))
        let now = Date()
        builder.readAll(at: now)
        let listing = SourcesListing(
            reports: builder.reports, now: now, home: reading.environment.home)
        if json {
            try Console.print(VisibleJSON.text(try listing.encoded()))
        } else {
            for line in listing.lines(width: TerminalWidth.ofOutput) { try Console.print(line) }
        }
    }
}
