import ArgumentParser
import UsagePusher

struct DailyReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "daily", abstract: "Add up tokens by day.",
        discussion: "'usage-push report --help' says what the numbers are.")

    @Flag(name: .shortAndLong, help: "A row for each project of a day.")
    var instances = false

    @OptionGroup var options: LogReportOptions

    func run() throws { try options.print(.day, byProject: instances) }
}

struct WeeklyReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "weekly", abstract: "Add up tokens by week.",
        discussion: """
            A week is named by its first day. With --since and --until the first and the last \
            week may be a part. 'usage-push report --help' says what the numbers are.
            """)

    @Option(name: [.customShort("w"), .long], help: "The first day of a week.")
    var startOfWeek = Weekday.monday

    @OptionGroup var options: LogReportOptions

    func run() throws { try options.print(.week(start: startOfWeek)) }
}

struct MonthlyReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monthly", abstract: "Add up tokens by month.",
        discussion: "'usage-push report --help' says what the numbers are.")

    @OptionGroup var options: LogReportOptions

    func run() throws { try options.print(.month) }
}

struct SessionReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "session", abstract: "Add up tokens by session.",
        discussion: """
            Sessions are in the order of their last activity, and --since and --until are about \
            the day of that. Subagents belong to the session that started them. \
            'usage-push report --help' says what the numbers are.
            """)

    @OptionGroup var options: LogReportOptions

    func run() throws { try options.print(.session) }
}
