import ArgumentParser
import ClockZones
import Commands
import Essentials
import KVStoreEssentials
import KVStoreHTTP
import LocalFiles
import UsagePusher

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Add what another counter knows of days whose logs are deleted.",
        discussion: """
            Reads the JSON of 'ccusage daily', also with --instances, --breakdown or --by-agent, of 'usage-push report' \
            and 'usage-view report', of 'tokscale graph' and of 'codeburn export -f json'. Reports of months, weeks, \
            sessions and blocks are refused: they cannot be compared with the days that logs cover.

            WHAT COUNTS
            An imported day of a tool counts in 'usage-view report' as long as no machine's logs state anything of the \
            tool on that day, also if logs appear later. Of several imports of a day, on all machines, the one with \
            the most tokens counts. Costs are those of the report. docs/ledger.md has more.

            EXAMPLES
              ccusage daily --json | usage-push import --dry-run -
              usage-push import ccusage-2025.json
              ccusage gemini daily --json | usage-push import --provider gemini -
              usage-push import --remove

            EXIT STATUS
              0 imported, even if there was nothing to add · 64 usage error · 65 a file is no report of days · \
            69 past usage is not shared, or the store cannot be opened · 74 reading or writing failed
            """)

    @Argument(help: ArgumentHelp("Reports, or - for standard input.", valueName: "file"), completion: .file())
    var files: [String] = []

    @Option(help: ArgumentHelp("The tool of all rows, whatever the reports say.", valueName: "id"))
    var provider: String?

    @Flag(help: "Print what would be added, and add nothing.")
    var dryRun = false

    @Flag(help: "Remove what this machine has imported.")
    var remove = false

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if files.isEmpty != remove { throw ValidationError("name the reports to import, or --remove without any") }
        if let provider { try ReportOptions.requireKnown(provider) }
    }

    func run() async throws {
        let today = Int(Date().timeIntervalSince1970 / 86_400)
        let imports = try files.map { try Self.read($0, provider: provider, today: today) }
        guard remove || !LedgerSettings.read().isOff else {
            throw CommandFailure(
                .unavailable, "past usage is not shared by this machine; run: usage-push config ledger --share")
        }
        let environment = StoreEnvironment()
        let device = try UsagePush.id(in: DeviceIdentityFile(dataDirectory: environment.dataDirectory))
        let credentials = try environment.credentials()
        let store = try environment.openLedger(credentials)
        defer { store.close() }
        // What is covered is decided again where reports are made.
        if credentials != nil, (try? await store.synchronizeNow(within: StoreEnvironment.briefTimeouts.request)) == nil
        {
            Console.report("the daemon does not respond; days that other machines cover are left out of reports later")
        }
        let stored = LedgerPages(store.data(where: LedgerKey.isKey))
        let file = LedgerProjectsFile(ReadingOptions.ownEnvironment)
        let known = file.read()
        var projects = LedgerProjects(
            home: ReadingOptions.ownEnvironment.home, disclosure: LedgerSettings.read().projects, known: known)
        let plan =
            remove
            ? LedgerImportPlan(removing: device, stored: stored)
            : LedgerImportPlan(imports, device: device, stored: stored, zone: .local) {
                projects.key(ofReported: $0, known)
            }
        if !dryRun, !plan.changes.isEmpty {
            try Self.write(plan, to: store)
            if !remove { try file.add(projects.found) }
            if credentials != nil { await Self.send(store) }
        }
        try Console.print(ImportListing(plan: plan, isDryRun: dryRun, isRemoval: remove), isJSON: json)
    }

    private static func read(_ name: String, provider: String?, today: Int) throws -> LedgerImport {
        let data =
            name == "-"
            ? try InputOutput.readInput(byteCount: LedgerImport.byteLimit)
            : try InputOutput.readFile(name, byteCount: LedgerImport.byteLimit)
        do throws(LedgerImport.Failure) {
            return try LedgerImportReader.read(data, provider: provider, today: today, zone: .local)
        } catch {
            throw CommandFailure(.dataError, (name == "-" ? "standard input" : name) + ": \(error)")
        }
    }

    private static func write(_ plan: LedgerImportPlan, to store: UbiquitousKeyValueStore) throws {
        do throws(StoreError) {
            try store.write(plan.changes.mapValues { $0.map { .data($0) } })
        } catch {
            guard error.code == .quotaExceeded || error.code == .tooManyKeys else { throw CommandFailure.push(error) }
            let byteCount = plan.changes.values.reduce(0) { $0 + ($1?.count ?? 0) }
            throw CommandFailure(
                .ioError,
                "nothing is imported: the import takes \(byteCount) bytes, and the store \(LedgerKey.storeName) has "
                    + "\(store.status.usedByteCount) of \(store.status.limits.totalByteCount); import fewer days, or a "
                    + "report without projects")
        }
    }

    private static func send(_ store: UbiquitousKeyValueStore) async {
        do throws(StoreError) {
            let report = try await store.sendNow(within: StoreEnvironment.briefTimeouts.request)
            if report.pendingKeyCount > 0 {
                Console.report("stored locally: \(report.refusal ?? "the daemon is out of space")")
            }
        } catch {
            Console.report("stored locally until the daemon is reachable: \(error.reason)")
        }
    }
}

/// What an import adds, and what not.
struct ImportListing: Listing {
    let plan: LedgerImportPlan
    let isDryRun: Bool
    let isRemoval: Bool

    /// Fields are added, never renamed or removed.
    struct JSON: Encodable {
        struct Sum: Encodable {
            var days: Int
            var tools: [String]
            var since: String?
            var until: String?
            var totalTokens: Int
            var totalCost: Double
        }

        var dryRun: Bool
        var added: Sum?
        var covered: Sum?
        var known: Sum?
        var forgotten: Sum?
        var removed: Sum?
    }

    var document: JSON {
        guard !isRemoval else { return JSON(dryRun: isDryRun, removed: Self.sum(plan.added)) }
        return JSON(
            dryRun: isDryRun, added: Self.sum(plan.added), covered: Self.sum(plan.covered), known: Self.sum(plan.known),
            forgotten: Self.sum(plan.forgotten))
    }

    private static func sum(_ sum: LedgerImportPlan.Sum) -> JSON.Sum {
        let days = sum.days.sorted()
        return JSON.Sum(
            days: days.count, tools: Set(days.map(\.source)).sorted(),
            since: days.first.map { "\(CalendarDay(number: $0.day))" },
            until: days.last.map { "\(CalendarDay(number: $0.day))" }, totalTokens: sum.amount.counts.total,
            totalCost: sum.amount.cost.dollars(.auto))
    }

    func lines(width: Int?) -> [String] {
        let added = Self.sum(plan.added)
        let verb = isRemoval ? "removed" : "imported"
        var lines = [
            added.days == 0
                ? "nothing \(isDryRun ? "would be" : "is") \(verb)"
                : (isDryRun ? "would be " : "") + "\(verb): " + Self.text(added)
        ]
        let (covered, known) = (Self.sum(plan.covered), Self.sum(plan.known))
        if covered.days > 0 { lines.append("left out, as logs cover them: " + Self.text(covered)) }
        let forgotten = Self.sum(plan.forgotten)
        if forgotten.days > 0 { lines.append("left out, as it is forgotten: " + Self.text(forgotten)) }
        if known.days > 0 { lines.append("left out, as no less was imported before: " + Self.text(known)) }
        return lines
    }

    /// "12 days of claude from 2026-01-02 to 2026-02-03, 1,234,567 tokens, $12.34"
    private static func text(_ sum: JSON.Sum) -> String {
        "\(ReportText.count(sum.days)) \(sum.days == 1 ? "day" : "days") of \(sum.tools.joined(separator: ", ")) "
            + "from \(sum.since ?? "") to \(sum.until ?? ""), \(ReportText.count(sum.totalTokens)) tokens, "
            + ReportText.dollars(sum.totalCost)
    }
}
