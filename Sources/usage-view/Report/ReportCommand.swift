import ArgumentParser
import Commands
import UsagePusher

/// `usage-view report`.
struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Add up the tokens of all your machines by day, week, month, year, project, model or machine.",
        discussion: """
            Reads what the pushers of all machines have told since they run, also of logs that the tools \
            have deleted. A session that was copied to another machine counts once. 'usage-view report' alone is \
            the daily one; 'usage-push report' is that of this machine's present logs.

            WHAT THE NUMBERS ARE
            As in 'usage-push report', whose days they equal to the cent. The costs are those at the prices of \
            the day on which they were told last. Sessions are known for about three months, the models and \
            projects of a single day for about a year; older months have totals by day, and by model and project.

            EXAMPLES
              usage-view report
              usage-view report monthly --breakdown
              usage-view report project --since 2026-03-01 --until 2026-05-31
              usage-view report yearly --json
              usage-view report device --provider claude

            EXIT STATUS
              0 printed, even if there is nothing yet · 64 usage error · 74 the replica cannot be read, or the \
            output cannot be written
            """,
        subcommands: [
            DailyReportCommand.self, WeeklyReportCommand.self, MonthlyReportCommand.self, YearlyReportCommand.self,
            ProjectReportCommand.self, ModelReportCommand.self, DeviceReportCommand.self, SessionReportCommand.self,
        ],
        defaultSubcommand: DailyReportCommand.self)
}

/// `usage-view report daily`.
struct DailyReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "daily", abstract: "Add up tokens by day.",
        discussion: "'usage-view report --help' says what the numbers are.")

    @Flag(name: .shortAndLong, help: "A row for each project of a day.")
    var instances = false

    @OptionGroup var options: LedgerReportOptions

    func run() async throws { try await options.print(.day, byProject: instances) }
}

/// `usage-view report weekly`.
struct WeeklyReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "weekly", abstract: "Add up tokens by week.",
        discussion: "'usage-view report --help' says what the numbers are.")

    @Option(name: [.customShort("w"), .long], help: "The first day of a week.")
    var startOfWeek = Weekday.monday

    @OptionGroup var options: LedgerReportOptions

    func run() async throws { try await options.print(.week(start: startOfWeek)) }
}

/// `usage-view report monthly`.
struct MonthlyReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monthly", abstract: "Add up tokens by month.",
        discussion: "'usage-view report --help' says what the numbers are.")

    @OptionGroup var options: LedgerReportOptions

    func run() async throws { try await options.print(.month) }
}

/// `usage-view report yearly`.
struct YearlyReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "yearly", abstract: "Add up tokens by year.",
        discussion: "'usage-view report --help' says what the numbers are.")

    @OptionGroup var options: LedgerReportOptions

    func run() async throws { try await options.print(.year) }
}

/// `usage-view report project`.
struct ProjectReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "project", abstract: "Add up tokens by project.",
        discussion: "'usage-view report --help' says what the numbers are.")

    @OptionGroup var options: LedgerReportOptions

    func run() async throws { try await options.print(.project) }
}

/// `usage-view report model`.
struct ModelReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "model", abstract: "Add up tokens by model.",
        discussion: "'usage-view report --help' says what the numbers are.")

    @OptionGroup var options: LedgerReportOptions

    func run() async throws { try await options.print(.model) }
}

/// `usage-view report device`.
struct DeviceReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device", abstract: "Add up tokens by machine.",
        discussion: "'usage-view report --help' says what the numbers are.")

    @OptionGroup var options: LedgerReportOptions

    func run() async throws { try await options.print(.device) }
}

/// `usage-view report session`.
struct SessionReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "session", abstract: "Add up tokens by session.",
        discussion: "'usage-view report --help' says what the numbers are.")

    @OptionGroup var options: LedgerReportOptions

    func run() async throws { try await options.print(.session) }
}
