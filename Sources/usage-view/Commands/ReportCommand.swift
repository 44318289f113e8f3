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

struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Add up the tokens of all your machines, for years.",
        discussion: """
            Reads what the pushers of all machines have recorded, also of logs that the tools have deleted since. A \
            session that was copied to another machine counts once. 'usage-push report' is that of this machine's \
            present logs.

            WHAT THE NUMBERS ARE
            As in 'usage-push report', whose days they equal to the cent. Costs are at the prices of the day on which \
            they were recorded last, and with --reprice at today's prices; what a tool has stated itself stays. Sessions are known for about three months, and models and projects of a single \
            day for about a year; older months have totals by day, by model and by project.

            EXAMPLES
              usage-view report
              usage-view report monthly --breakdown
              usage-view report project --since 2026-03-01 --until 2026-05-31
              usage-view report yearly --json
              usage-view report device --provider claude
              usage-view report yearly --reprice

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

    @Flag(help: "Calculate the costs of all years again, at today's prices.")
    var reprice = false

    @Flag(help: "Show invented names of machines and projects, for screenshots.")
    var redact = false

    func validate() throws {
        if instances, grouping != .daily { throw ValidationError("--instances goes with daily alone") }
        if startOfWeek != nil, grouping != .weekly { throw ValidationError("--start-of-week goes with weekly alone") }
        for id in provider { try ReportOptions.requireKnown(id) }
    }

    func run() async throws {
        async let known = known()
        let pages = try await LedgerPages.read(within: wait.seconds)
        var ledger = LedgerUsage(pages, zone: shared.query(of: provider).zone)
        let prices = reprice ? ModelPrices.load() : nil
        let usage = ledger.usage(
            for: tokenGrouping, isOfProject: instances || shared.project != nil, prices: prices?.prices,
            names(try await known, pages.projectKeys))
        try shared.print(
            usage, by: tokenGrouping, byProject: instances, providers: provider,
            gaps: pages.issues + (prices?.issues ?? []),
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

    /// What is in the store of the snapshots.
    private func known() async throws -> (devices: [DeviceState], projects: ProjectRules) {
        try await UsageReader.read(storeNamed: StoreOption.defaultName, within: wait.seconds) {
            let data = $0.data(isOnline: $0.isOnline)
            return (data.devices(at: Date()), data.projects)
        }
    }

    private func names(_ known: (devices: [DeviceState], projects: ProjectRules), _ keys: Set<String>)
        -> LedgerUsage.Names
    {
        let projects = ProjectNames(known.projects, keys: keys)
        guard redact else { return .init(devices: known.devices, projects) }
        let byID = Dictionary(known.devices.compactMap { device in device.id.map { ($0, device.name) } }) { $1 }
        let redaction = Redaction(accounts: [], devices: Set(byID.values))
        return .init(
            device: { redaction.device(byID[$0] ?? $0) },
            project: { key in
                let name = projects.name(ofKey: key)
                return name == ProjectNames.hidden ? name : "project-" + redaction.device(name)
            })
    }
}
