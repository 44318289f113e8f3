import ArgumentParser
import ClockZones
import Commands
import Essentials
import KVStoreEssentials
import KVStoreHTTP
import LocalFiles
import TerminalText
import UsagePusher
import UsageState

/// `usage-view report`.
struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Add up the tokens of all your machines, for years.",
        discussion: """
            Reads what the pushers of all machines have recorded, also of logs that the tools have deleted since. A \
            session that was copied to another machine counts once. 'usage-push report' is that of this machine's \
            present logs.

            WHAT THE NUMBERS ARE
            As in 'usage-push report', whose days they equal to the cent. Costs are at the prices of the day on which \
            they were recorded last. Sessions are known for about three months, and models and projects of a single \
            day for about a year; older months have totals by day, by model and by project.

            EXAMPLES
              usage-view report
              usage-view report monthly --breakdown
              usage-view report project --since 2026-03-01 --until 2026-05-31
              usage-view report yearly --json
              usage-view report device --provider claude

            EXIT STATUS
              0 printed, even if there is nothing yet · 64 usage error · 74 the replica cannot be read, or the \
            output cannot be written
            """)

    enum Grouping: String, ExpressibleByArgument, CaseIterable {
        case daily, weekly, monthly, yearly, project, model, device, session
    }

    @Argument(help: "What has a row: daily, weekly, monthly, yearly, project, model, device or session.")
    var grouping = Grouping.daily

    @Flag(name: .shortAndLong, help: "With daily: a row for each project of a day.")
    var instances = false

    @Option(name: [.customShort("w"), .long], help: "With weekly: the first day of a week.")
    var startOfWeek: Weekday?

    @OptionGroup var shared: ReportOptions

    @Option(help: ArgumentHelp("Only this provider's tool; may be repeated.", valueName: "id"))
    var provider: [String] = []

    @OptionGroup var wait: TimeoutOption

    @Flag(help: "Show invented names of machines and projects, for screenshots.")
    var redact = false

    func validate() throws {
        if instances, grouping != .daily { throw ValidationError("--instances goes with daily alone") }
        if startOfWeek != nil, grouping != .weekly { throw ValidationError("--start-of-week goes with weekly alone") }
        for id in provider { try ReportOptions.requireKnown(id) }
    }

    func run() async throws {
        async let names = names()
        let pages = try await LedgerPages.read(within: wait.seconds)
        var ledger = LedgerUsage(pages, zone: shared.query(of: provider).zone)
        let usage = ledger.usage(
            for: tokenGrouping, isOfProject: instances || shared.project != nil, try await names)
        try shared.print(
            usage, by: tokenGrouping, byProject: instances, providers: provider, gaps: pages.issues,
            emptyMessage: "no past usage of this; it comes with 'usage-push', on this machine or another of the account"
        )
    }

    private var tokenGrouping: TokenReport.Grouping {
        switch grouping {
        case .daily: .day
        case .weekly: .week(start: startOfWeek ?? .monday)
        case .monthly: .month
        case .yearly: .year
        case .project: .project
        case .model: .model
        case .device: .device
        case .session: .session
        }
    }

    /// Those of the machines are in the store of the snapshots.
    private func names() async throws -> LedgerUsage.Names {
        let devices = try await UsageReader.read(storeNamed: StoreOption.defaultName, within: wait.seconds) {
            $0.data(isOnline: $0.isOnline).devices(at: Date())
        }
        if redact {
            let byID = Dictionary(devices.compactMap { device in device.id.map { ($0, device.name) } }) { $1 }
            let redaction = Redaction(accounts: [], devices: Set(byID.values))
            return .init(device: { redaction.device(byID[$0] ?? $0) }, project: { "project-" + redaction.device($0) })
        }
        return .init(devices: devices)
    }
}
