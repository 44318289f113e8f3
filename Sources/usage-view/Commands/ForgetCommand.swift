import ArgumentParser
import ClockZones
import Commands
import Essentials
import KVStoreEssentials
import LocalFiles
import TerminalText
import UsagePusher
import UsageState

struct ForgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Remove past usage of a project, a machine or days, on all machines.",
        discussion: """
            All conditions that are given hold of what is removed. Without --until it ends today: later use counts \
            again. It is shown before you are asked.

            A rule is stored in the account, so that no machine publishes again what its caches still have. Reports \
            leave it out at once; each machine takes it out of what it has published with its next push. Totals of \
            months older than about 400 days do not say of which project they are, and those by model not of which \
            day; what stays in them is said. docs/ledger.md has more.

            EXAMPLES
              usage-view forget --project owner/secret
              usage-view forget --machine old-laptop --yes
              usage-view forget --since 2026-03-01 --until 2026-03-31
              usage-view forget --list
              usage-view forget --undo 1f3a9c20b5de

            EXIT STATUS
              0 removed, also if the daemon is unreachable: it learns of it later · 1 you said no · 64 usage error, \
            or nothing is known under a name · 74 the replica cannot be read or written
            """)

    @Option(help: ArgumentHelp("Usage of this project, as 'usage-view report project' names it.", valueName: "name"))
    var project: String?

    @Option(
        help: ArgumentHelp("What this machine published, as 'usage-view report device' names it.", valueName: "name"))
    var machine: String?

    @Option(help: ArgumentHelp("The first day, 2026-03-01.", valueName: "day"), transform: ReportOptions.day)
    var since: CalendarDay?

    @Option(help: ArgumentHelp("The last day; else today.", valueName: "day"), transform: ReportOptions.day)
    var until: CalendarDay?

    @Flag(name: .shortAndLong, help: "Do not ask.")
    var yes = false

    @Flag(help: "List what is forgotten.")
    var list = false

    @Option(help: ArgumentHelp("No longer forget what a rule of --list covers.", valueName: "rule"))
    var undo: String?

    private static let exchangeLimit = 5.0

    func validate() throws {
        let hasConditions = project != nil || machine != nil || since != nil || until != nil
        guard [hasConditions, list, undo != nil].count(where: { $0 }) == 1 else {
            throw ValidationError("give --project, --machine, --since or --until, or one of --list and --undo")
        }
        if let since, let until, until < since { throw ValidationError("--until \(until) is before --since \(since)") }
    }

    func run() async throws {
        let reader = try UsageReader.open(storeNamed: LedgerKey.storeName, isLive: false)
        defer { reader.store.close() }
        _ = await reader.synchronize(within: Self.exchangeLimit)
        var pages = LedgerPages(reader.store.data(where: LedgerKey.isKey))
        let known = try await known(pages.projectKeys)
        if list { return try printRules(pages.rules, known) }
        if let undo { return try await undoRule(undo, pages.rules, reader) }
        let rules = try rules(pages, known)
        let preview = ForgetPreview(rules, of: pages, zone: .local)
        let ids = Set(pages.rules.map(\.id))
        guard ids.union(rules.map(\.id)).count <= ForgetRule.countLimit else {
            throw CommandFailure(
                .usage, "there are \(ForgetRule.countLimit) rules; undo one of usage-view forget --list")
        }
        for line in Self.lines(preview) { try Console.print(line) }
        guard try yes || Console.confirm(verb: "forget") else { throw CommandFailure(.failure, "nothing was changed") }
        pages.rules += rules
        var changes = pages.changes(forgettingOf: rewritten(pages, known), zone: .local)
        for rule in rules { changes[rule.key] = rule.value }
        try reader.store.write(changes.mapValues { $0.map { .data($0) } })
        let undo = rules.map { "usage-view forget --undo \($0.id)" }
        try await finish("forgotten; to undo: \(undo.joined(separator: ", and "))", reader)
    }

    // MARK: Rules

    /// One, or one for each of the projects that count as one.
    private func rules(_ pages: LedgerPages, _ known: Known) throws(CommandFailure) -> [ForgetRule] {
        var hashes: [String?] = [nil]
        if let project {
            hashes = try known.projects.hashes(ofProject: project, among: pages.projectKeys).sorted()
        }
        var device: String?
        if let machine {
            // Those that have left have no name but the beginning of their id.
            let found = pages.devices.filter {
                known.names.device($0) == machine || machine.utf8.count >= 8 && $0.hasPrefix(machine)
            }.sorted()
            guard found.count == 1 else {
                let names = pages.devices.map(known.names.device).sorted().joined(separator: ", ")
                throw CommandFailure(
                    .usage,
                    found.isEmpty
                        ? "no past usage of a machine '\(machine)'; there is \(names.isEmpty ? "none" : names)"
                        : "several machines are called '\(machine)': \(found.joined(separator: ", "))")
            }
            device = found.first
        }
        var clock = ReportClock(zone: .local)
        let now = Date().timeIntervalSince1970
        let today = clock.day(of: Int64(now * 1_000))
        return hashes.map { hash in
            ForgetRule(
                project: hash, device: device, first: since?.number, last: (until ?? today).number, stated: Int(now))
        }
    }

    private static func lines(_ preview: ForgetPreview) -> [String] {
        var lines = [
            "removes \(ReportText.count(preview.tokens)) tokens, \(ReportText.dollars(preview.cost))"
                + (preview.days.min().map { first in
                    let last = preview.days.max() ?? first
                    return ", of \(ReportText.count(preview.days.count)) \(preview.days.count == 1 ? "day" : "days")"
                        + (first == last ? ", \(first)" : " from \(first) to \(last)")
                } ?? "")
        ]
        for (totals, tokens) in preview.rest {
            lines.append(
                "\(ReportText.count(tokens)) of these tokens stay in the totals by \(totals) of old months, which do not "
                    + "say what they are of")
        }
        return lines
    }

    private func printRules(_ rules: [ForgetRule], _ known: Known) throws {
        if rules.isEmpty { return try Console.print("nothing is forgotten") }
        for rule in rules {
            var parts = [rule.id]
            if let project = rule.project { parts.append("project " + known.projects.ownName(of: project)) }
            if let device = rule.device {
                let name = known.names.device(device)
                parts.append(name.hasPrefix("machine ") ? name : "machine " + name)
            }
            if let first = rule.first { parts.append("since \(CalendarDay(number: first))") }
            parts.append("until \(CalendarDay(number: rule.last))")
            try Console.print(VisibleText.escape(parts.joined(separator: "  ")))
        }
    }

    private func undoRule(_ id: String, _ rules: [ForgetRule], _ reader: UsageReader) async throws {
        guard let rule = rules.first(where: { $0.id == id }) else {
            throw CommandFailure(.usage, "no rule '\(id)'; see usage-view forget --list")
        }
        try reader.store.write([rule.key: nil])
        try await finish(
            "undone; with its next push each machine publishes again what it still has of the last three months", reader
        )
    }

    // MARK: Machines

    /// What is in the store of the snapshots.
    private struct Known {
        var names: LedgerUsage.Names
        var projects: ProjectNames
        /// Those that push; nil when the daemon has not said which there are.
        var devices: Set<String>?
    }

    /// - Parameter keys: projects of the ledger.
    private func known(_ keys: Set<String>) async throws -> Known {
        let reader = try UsageReader.open(storeNamed: StoreOption.defaultName, isLive: false)
        defer { reader.store.close() }
        let isOnline = await reader.synchronize(within: Self.exchangeLimit)
        let answer = reader.isJoined && isOnline ? await reader.devices(within: .seconds(Self.exchangeLimit)) : nil
        let data = reader.data(isOnline: reader.isOnline)
        let devices = data.devices(at: Date())
        let projects = ProjectNames(data.projects, keys: keys)
        var isKnown = false
        if case .known = answer { isKnown = true }
        return Known(
            names: .init(devices: devices, projects), projects: projects,
            devices: isKnown ? Set(devices.compactMap(\.id)) : nil)
    }

    /// The devices whose pages this command writes: this one, and those that push no more, as nobody else does.
    private func rewritten(_ pages: LedgerPages, _ known: Known) -> Set<String> {
        let own = UsageReader.device.map { [$0] } ?? []
        return Set(own).union(known.devices.map { pages.devices.subtracting($0) } ?? [])
    }

    private func finish(_ text: String, _ reader: UsageReader) async throws {
        let isDelivered = await reader.synchronize(within: Self.exchangeLimit)
        try Console.print(text + (isDelivered || !reader.isJoined ? "" : "; the other machines learn of it later"))
    }
}
