import ArgumentParser
import Commands
import Essentials
import UsagePusher

struct SourcesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sources", abstract: "List what was found where, how certain and how old it is.",
        discussion: """
            Reads the files as a push does, and pushes nothing. Enabled plug-ins that are due run \
            first; see 'usage-push config'.

            CERTAINTY
              exact          the provider's own number, reported as it changes
              cached-exact   the provider's own number, as old as its age
              –              no usable number; the line below says why

            Then for each tool that states tokens its requests, their tokens, the days and the files. \
            With --home only limits are listed.

            EXAMPLES
              usage-push sources
              usage-push sources --all
              usage-push sources --provider claude
              usage-push sources --json
            """)

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "List where tools that were not found were looked for.")
    var all = false

    @OptionGroup var reading: ReadingOptions

    /// Seconds for the tokens of logs that have changed; the next listing reads on.
    private static let tokenSeconds = 5.0

    func run() throws {
        var builder = reading.builder(device: DeviceIdentity(id: nil, name: ""))
        builder.pluginRuns?.runDue()
        let now = Date()
        builder.readThoroughly(at: now)
        var listing = SourcesListing(reports: builder.reports, now: now, home: builder.environment.home)
        if all || !reading.provider.isEmpty {
            listing.places = Dictionary(
                uniqueKeysWithValues: UsageSources.all.map {
                    ($0.providerID, $0.watchedPaths(in: builder.environment).map(\.path))
                })
        }
        listing.unreadHomes = ToolHomes(builder.environment).unread.filter { home in
            listing.reports.contains { $0.providerID == home.providerID }
        }
        if reading.home == nil { addTokens(to: &listing, in: builder.environment) }
        try Console.print(listing, isJSON: json)
    }

    /// Adds those of all tools, so that the sums that are kept serve every command.
    private func addTokens(to listing: inout SourcesListing, in environment: SourceEnvironment) {
        let usage = TokenLedger(in: environment).update(
            in: environment, prices: ModelPrices.load().prices, options: .init(seconds: Self.tokenSeconds))
        listing.tokens = usage.summaries(of: UsageSources.all)
        listing.tokenIssues = usage.issues
    }
}
