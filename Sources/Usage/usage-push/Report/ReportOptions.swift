import ClockZones
import ArgumentParser
import Essentials
import LocalFiles
import TerminalText
import UsagePusher

/// What all reports share, by ccusage's names.
struct ReportOptions: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Print JSON with ccusage's members.")
    var json = false

    @Flag(help: "Print CSV.")
    var csv = false

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The first day, 2026-09-17 or 20260917.", valueName: "day"),
        transform: Self.day)
    var since: CalendarDay?

    @Option(name: .shortAndLong, help: ArgumentHelp("The last day.", valueName: "day"), transform: Self.day)
    var until: CalendarDay?

    @Option(
        name: [.customLong("tz"), .customLong("timezone"), .customShort("z")],
        help: ArgumentHelp(
            "The time zone whose days these are, such as Europe/Berlin; else the system's.", valueName: "name"),
        transform: Self.zone)
    var zone: ClockZone?

    @Option(name: .shortAndLong, help: "auto, calculate or display; see COSTS.")
    var mode = CostMode.auto

    @Option(name: .shortAndLong, help: "asc or desc, by time.")
    var order = ReportOrder.asc

    @Flag(name: .shortAndLong, help: "A row for each model, too. JSON always has them.")
    var breakdown = false

    @Option(name: .shortAndLong, help: ArgumentHelp("Only this project, by its exact name.", valueName: "name"))
    var project: String?

    @Flag(help: "Leave out the costs.")
    var noCost = false

    @Flag(help: "Fewer columns; so in a terminal of less than 100.")
    var compact = false

    @OptionGroup var reading: ReadingOptions

    func validate() throws {
        if json, csv { throw ValidationError("--json and --csv cannot be combined.") }
        if let since, let until, until < since { throw ValidationError("--until \(until) is before --since \(since).") }
    }

    private static func day(_ text: String) throws -> CalendarDay {
        guard let day = CalendarDay(text) else {
            throw ValidationError("no day of the calendar: write 2026-09-17 or 20260917")
        }
        return day
    }

    private static func zone(_ name: String) throws -> ClockZone {
        do throws(FileError) {
            return try .named(name)
        } catch {
            throw ValidationError(
                "unknown time zone: use a name of the package tzdata, such as Europe/Berlin, Asia/Tokyo or UTC"
                    + (error.isMissing ? "" : " (\(error.message))"))
        }
    }

    var query: ReportQuery {
        var query = ReportQuery(zone: zone ?? .local)
        query.since = since
        query.until = until
        query.providers = Set(reading.provider)
        query.project = project
        query.isDescending = order == .desc
        return query
    }

    var format: ReportFormat {
        ReportFormat(
            mode: mode, hasCosts: !noCost, hasModelRows: breakdown,
            agents: ReportFormat.Agents(providers: Set(reading.provider)))
    }
}

/// How a report is written, whatever it is about.
struct ReportFormat {
    /// Which of ccusage's families of JSON.
    enum Agents {
        case claude, codex, all

        init(providers: Set<String>) {
            self =
                switch providers {
                case ["claude"]: .claude
                case ["codex"]: .codex
                default: .all
                }
        }
    }

    var mode = CostMode.auto
    var hasCosts = true
    var hasModelRows = false
    var agents = Agents.all
}

enum ReportOrder: String, ExpressibleByArgument, CaseIterable {
    case asc, desc
}

extension CostMode: ExpressibleByArgument {}

extension Weekday: ExpressibleByArgument {}
