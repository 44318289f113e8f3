import ClockZones
import ArgumentParser
import Commands
import Essentials
import KVStoreEssentials
import TerminalText
import UsageState

struct HistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Show how much of each limit was used lately, and how often it was reached.",
        discussion: """
            Merges what the pushers of all your machines have recorded: 7 days by quarters of an hour and \
            90 days by six hours. A blank is a time of which nothing is known; a full bar is a limit that was \
            reached.

            EXAMPLES
              usage-view history                      7 days of every limit
              usage-view history codex --since 24h    one provider's last day
              usage-view history --since 2026-11-01 --window weekly
              usage-view history --since 90d --csv    a table for a spreadsheet
              usage-view history --json               a document for scripts (docs/history.md)
              usage-view history --demo               invented data

            EXIT STATUS
              0 printed, even if there is nothing yet · 64 usage error, unknown provider or window · 74 the \
            replica cannot be read, or the output cannot be written
            """)

    @Argument(help: "Only this provider.")
    var provider: String?

    @Option(help: ArgumentHelp("From when on: hours or days until now, or a day.", valueName: "24h|7d|2026-11-01"))
    var since = "7d"

    @Option(help: ArgumentHelp("Only limits whose name contains this.", valueName: "text"))
    var window: String?

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Print comma-separated values.")
    var csv = false

    @Option(help: "Use color: auto, always or never. NO_COLOR is respected.")
    var color: ColorPolicy.Choice = .auto

    @OptionGroup var reading: ReadingOptions

    @Flag(help: "Show invented data.")
    var demo = false

    func validate() throws {
        if json, csv { throw ValidationError("--json cannot be combined with --csv") }
        _ = try start(at: Date())
    }

    func run() async throws {
        let model = ViewModel(data: try await data(), now: Date(), zone: .local)
        let all = HistoryListing(model, since: .distantPast)
        try require(provider, "provider", among: all.entries.map(\.identity.providerID)) {
            !HistoryListing(model, since: .distantPast, provider: $0).entries.isEmpty
        }
        let own = HistoryListing(model, since: .distantPast, provider: provider)
        try require(window, "window", among: own.entries.map(\.identity.label)) {
            !HistoryListing(model, since: .distantPast, provider: provider, window: $0).entries.isEmpty
        }
        let listing = HistoryListing(model, since: try start(at: model.now), provider: provider, window: window)
        if json { return try Console.printJSON(HistoryReport(listing), isIndented: true) }
        if csv { return try HistoryCSV.lines(of: listing).forEach(Console.print) }
        try print(listing, model, isEmpty: own.entries.isEmpty)
    }

    private func data() async throws -> UsageData {
        if demo { return DemoUsage.data(at: Date()) }
        let reader = try reading.open(isLive: false)
        defer { reader.store.close() }
        return await reader.refreshed(within: reading.timeout)
    }

    private func start(at now: Date) throws -> Date {
        guard let since = HistorySince(self.since) else {
            throw ValidationError(
                "invalid --since '\(VisibleText.escape(self.since))': use hours (24h), days up to 90 "
                    + "(7d), or a day (2026-11-01)")
        }
        guard let date = since.date(now: now, zone: .local) else {
            throw ValidationError("--since \(VisibleText.escape(self.since)) is in the future: use an earlier day")
        }
        return date
    }

    /// Throws an error that names what there is, if there is anything but what was asked for.
    private func require(_ asked: String?, _ kind: String, among names: [String], isKnown: (String) -> Bool) throws {
        guard let asked, !names.isEmpty, !isKnown(asked) else { return }
        let choice = Set(names).sorted().prefix(20).joined(separator: ", ")
        throw CommandFailure(.usage, "no history of \(kind) '\(asked)'; there is: \(choice)")
    }

    private func print(_ listing: HistoryListing, _ model: ViewModel, isEmpty: Bool) throws {
        let environment = ProcessInfo.processInfo.environment
        let width = min(Console.outputColumns ?? 80, ScreenLayout.widestText)
        var lines = HistoryLines(listing: listing, model: model, width: width).lines
        if lines.isEmpty {
            lines =
                isEmpty
                ? Self.nothing(model, width: width)
                : Parts.wrapped(
                    "No observation since \(model.times.clock(listing.since)); to see earlier "
                        + "ones, add --since 90d.", width: width
                ).map { StyledLine($0) }
        }
        if !ColorPolicy.isUnicode(environment: environment) { lines = lines.map(\.inASCII) }
        let isColored = ColorPolicy.isColored(
            choice: color, environment: environment, isTerminal: Console.isOutputTerminal)
        try Console.write(Data(lines.text(isColored: isColored).utf8))
    }

    private static func nothing(_ model: ViewModel, width: Int) -> [StyledLine] {
        guard model.situation == .ready else { return EmptyState.lines(for: model, width: width) }
        return Parts.wrapped(
            "No history yet: no provider has stated a limit. It is recorded while usage-push runs "
                + "(usage-push --watch, or usage-push service install).", width: width
        ).map { StyledLine($0) }
    }
}
