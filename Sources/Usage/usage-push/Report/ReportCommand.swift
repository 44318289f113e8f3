import ArgumentParser
import UsagePusher

struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract:
            "Add up the tokens of your AI coding tools by day, week, month, session or block.",
        discussion: """
            Reads the logs that the tools keep, uses no network, and remembers what it has read: \
            the next report reads only what is new. 'usage-push report' alone is the daily one.

            WHAT THE NUMBERS ARE
              INPUT          what the model read that was not cached
              OUTPUT         what it wrote, reasoning included
              CACHE CREATE   input that was stored in the provider's cache
              CACHE READ     input that was read from it, the bulk of long sessions
              TOTAL          all four
              COST           US dollars at the list prices of the providers' APIs;
                             with a subscription you do not pay this

            A request counts once, however many files repeat it: resumed and forked sessions, \
            subagents. A day is that of the time zone (--tz), and a week begins on Monday unless \
            --start-of-week says otherwise.

            COSTS
              auto           what the tool itself says, else calculated
              calculate      always from tokens and prices
              display        only what the tool says; most say nothing

            'usage-push prices' lists the prices, where they are from and how to add some. A \
            model without one is never priced as another: its cost is –, a sum without it has a \
            +, and below the report is how many tokens that leaves out. 'usage-push prices \
            --unpriced' lists all such models and what to write to price them.

            WHAT IS MISSING
            Claude Code deletes transcripts after 30 days, unless cleanupPeriodDays in its \
            settings says otherwise: older days are then too small, or gone, and 'usage-view report' still \
            has them. Of a database what was read once counts as long as its file is there, also after \
            the tool has deleted it. What cannot be read \
            or is invalid is skipped and named on standard error. Tools of which files could not \
            be read, or not to their end, are named below the table, and in JSON in "incomplete".

            JSON AND CSV
            --json prints what ccusage prints: with --provider claude that of 'ccusage claude' \
            (date, week, month, sessions), with --provider codex that of 'ccusage codex', else \
            that of 'ccusage' (period, agent). --csv has one row for each period, or with \
            --breakdown for each model of it; requestsWithoutPrice, tokensWithoutPrice and \
            shareWithoutPrice (0 to 1) are what the cost lacks, in JSON unpricedRequests, \
            unpricedTokens and unpricedShare beside each cost that lacks something.

            EXAMPLES
              usage-push report
              usage-push report daily --since 2026-09-01 --breakdown
              usage-push report monthly --provider claude --json
              usage-push report weekly --start-of-week sunday --tz America/New_York
              usage-push report session --project /home/me/app --order desc
              usage-push report blocks --active --token-limit max
            """,
        subcommands: [
            DailyReportCommand.self, WeeklyReportCommand.self, MonthlyReportCommand.self,
            SessionReportCommand.self, BlocksReportCommand.self,
        ],
        defaultSubcommand: DailyReportCommand.self)
}

extension ReportCommand {
    /// The program's arguments with the name of a project attached to its option. Claude Code's names begin with a
    /// hyphen, and the parser would look for the program's own flags in them.
    static func attachingProject(in arguments: [String]) -> [String] {
        guard arguments.first == configuration.commandName else { return arguments }
        var attached: [String] = []
        for argument in arguments {
            if let option = attached.last, ["--project", "-p"].contains(option),
                argument.hasPrefix("-"), !argument.hasPrefix("--")
            {
                attached[attached.count - 1] = "--project=" + argument
            } else {
                attached.append(argument)
            }
        }
        return attached
    }
}

/// What all reports of this machine's logs share.
struct LogReportOptions: ParsableArguments {
    @OptionGroup var shared: ReportOptions
    @OptionGroup var reading: ReadingOptions

    var query: ReportQuery { shared.query(of: reading.provider) }
    var format: ReportFormat { shared.format(of: reading.provider) }

    /// Prints a report of days, weeks, months or sessions.
    func print(_ grouping: TokenReport.Grouping, byProject: Bool = false) throws {
        let usage = ReportScan(reading: reading).run()
        try shared.print(
            usage, by: grouping, byProject: byProject, providers: reading.provider,
            gaps: usage.gaps(of: Set(reading.provider)), emptyMessage: Self.emptyMessage)
    }

    static let emptyMessage =
        "no tokens in the tools' logs for this; to see where they are looked for, run: "
        + "usage-push sources"
}
