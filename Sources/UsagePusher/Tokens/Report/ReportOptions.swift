package import ArgumentParser
package import ClockZones
import Essentials
import LocalFiles
import TerminalText

/// What all reports share, by ccusage's names.
package struct ReportOptions: ParsableArguments {
    package init() {}

    @Flag(name: .shortAndLong, help: "Print JSON with ccusage's members.")
    package var json = false

    @Flag(help: "Print CSV.")
    package var csv = false

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The first day, 2026-09-17 or 20260917.", valueName: "day"),
        transform: Self.day)
    package var since: CalendarDay?

    @Option(name: .shortAndLong, help: ArgumentHelp("The last day.", valueName: "day"), transform: Self.day)
    package var until: CalendarDay?

    @Option(
        name: [.customLong("tz"), .customLong("timezone"), .customShort("z")],
        help: ArgumentHelp(
            "The time zone whose days these are, such as Europe/Berlin; else the system's.", valueName: "name"),
        transform: Self.zone)
    package var zone: ClockZone?

    @Option(name: .shortAndLong, help: "auto, calculate or display; see COSTS.")
    package var mode = CostMode.auto

    @Option(name: .shortAndLong, help: "asc or desc, by time.")
    package var order = ReportOrder.asc

    @Flag(name: .shortAndLong, help: "A row for each model, too. JSON always has them.")
    package var breakdown = false

    @Option(name: .shortAndLong, help: ArgumentHelp("Only this project, by its exact name.", valueName: "name"))
    package var project: String?

    @Flag(help: "Leave out the costs.")
    package var noCost = false

    @Flag(help: "Fewer columns; so in a terminal of less than 100.")
    package var compact = false

    package func validate() throws {
        if json, csv { throw ValidationError("--json and --csv cannot be combined.") }
        if let since, let until, until < since { throw ValidationError("--until \(until) is before --since \(since).") }
    }

    /// Throws unless this is the id of a provider that is read.
    package static func requireKnown(_ id: String) throws {
        guard !UsageSources.all.contains(where: { $0.providerID == id }) else { return }
        throw ValidationError("Unknown provider '\(VisibleText.escape(id))': use \(UsageSources.all.choice).")
    }

    package static func day(_ text: String) throws -> CalendarDay {
        guard let day = CalendarDay(text) else {
            throw ValidationError("no day of the calendar: write 2026-09-17 or 20260917")
        }
        return day
    }

    package static func zone(_ name: String) throws -> ClockZone {
        do throws(FileError) {
            return try .named(name)
        } catch {
            throw ValidationError(
                "unknown time zone: use a name of the package tzdata, such as Europe/Berlin, Asia/Tokyo or UTC"
                    + (error.isMissing ? "" : " (\(error.message))"))
        }
    }

    /// - Parameter providers: ids; none for all.
    package func query(of providers: [String]) -> ReportQuery {
        var query = ReportQuery(zone: zone ?? .local)
        query.since = since
        query.providers = Set(providers)
        query.until = until
        query.project = project
        query.isDescending = order == .desc
        return query
    }

    package func format(of providers: [String]) -> ReportFormat {
        ReportFormat(
            mode: mode, hasCosts: !noCost, hasModelRows: breakdown,
            agents: ReportFormat.Agents(providers: Set(providers)))
    }
}

/// How a report is written, whatever it is about.
package struct ReportFormat {
    /// Which of ccusage's families of JSON.
    package enum Agents {
        case claude, codex, all

        package init(providers: Set<String>) {
            self =
                switch providers {
                case ["claude"]: .claude
                case ["codex"]: .codex
                default: .all
                }
        }
    }

    package var mode = CostMode.auto
    package var hasCosts = true
    package var hasModelRows = false
    package var agents = Agents.all

    package init(mode: CostMode = .auto, hasCosts: Bool = true, hasModelRows: Bool = false, agents: Agents = .all) {
        self.mode = mode
        self.hasCosts = hasCosts
        self.hasModelRows = hasModelRows
        self.agents = agents
    }
}

package enum ReportOrder: String, ExpressibleByArgument, CaseIterable {
    case asc, desc
}

extension CostMode: ExpressibleByArgument {}

extension Weekday: ExpressibleByArgument {}

extension [any UsageSource] {
    /// "claude, codex or jetbrains": the ids, for a message.
    package var choice: String {
        let ids = map(\.providerID)
        return ids.dropLast().joined(separator: ", ") + " or " + (ids.last ?? "")
    }
}
