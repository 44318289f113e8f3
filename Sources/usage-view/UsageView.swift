// The viewer: from the stored snapshots to lines of text, once or live. Not here: the payload and
// its merge (SnapshotModels).

import ClockZones
import ArgumentParser
import Commands
import Essentials
import KVStoreEssentials
import KVStoreHTTP
import SnapshotModels
import TerminalText
import UsageState

struct UsageView: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "usage-view",
        abstract: "Show how much of your AI coding tools' limits is used, and when they reset.",
        discussion: """
            Reads the local replica, which usage-push fills on this machine and kvsd keeps up to date \
            once you have run 'ubq join'. Works offline; old numbers are shown with their age.

            EXAMPLES
              usage-view                  print once
              usage-view --watch          keep running and redraw on changes
              usage-view --watch --plain  print changes as lines, for screen readers
              usage-view --left           show percentages left
              usage-view --provider codex --provider claude
              usage-view --json           print JSON for scripts
              usage-view --demo           show invented data
              usage-view --ssh box        show what another machine has, without joining it
              usage-view history          show the last days, and how often a limit was reached
              usage-view report monthly   show what all machines have used, for years
              usage-view budget set 50 --per month
              usage-view status           print one line for a status bar or a prompt
              usage-view check --max 90   succeed unless a limit is nearly reached
              usage-view mcp              let agents read the limits

            KEYS WITH --watch
              1 to 7 sections · arrows or hjkl · enter open · esc back · / search · : all commands
              m account · u used/left · a clock times · s sort · ? help · q quit
              Control-Z suspends, Control-L draws everything again. If the program is killed by SIGKILL, \
              type 'reset' to get the terminal back.

            EXIT STATUS
              0 printed, even if the data is old or incomplete · 64 usage error · 74 the replica
              cannot be read, or the output cannot be written
            """,
        version: ProgramVersion.text,
        subcommands: [
            HistoryCommand.self, ReportCommand.self, BudgetCommand.self, ProjectCommand.self, ForgetCommand.self,
            StatusCommand.self,
            CheckCommand.self, WaitCommand.self, MetricsCommand.self, GateCommand.self, MCPCommand.self,
        ])

    @Flag(help: "Keep running and redraw when something changes.")
    var watch = false

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Print sentences, one fact per line; with --watch, again when one changes.")
    var plain = false

    @Flag(help: "Show invented names of accounts, devices and projects, for screenshots.")
    var redact = false

    @Option(help: "Name of this window with --watch; default: the terminal's pane.")
    var window: String?

    @Flag(help: "Show percentages used (default) or left.")
    var measure: ViewOptions.Measure?

    @Flag(help: "Show clock times in the local time zone instead of countdowns.")
    var absolute = false

    @OptionGroup var accounts: AccountOptions

    @Option(help: "Order of providers: tightest (default: what ends first is on top), or name.")
    var sort: ViewOptions.SortOrder?

    @Option(help: "Use color: auto, always or never. NO_COLOR is respected.")
    var color: ColorPolicy.Choice = .auto

    @Flag(
        help: """
            Let --watch react to clicks and the wheel; selecting text in the terminal then needs Shift.
            """)
    var mouse = false

    @OptionGroup var reading: ReadingOptions

    @Option(
        help: ArgumentHelp(
            "Show the limits of this host instead, which its own usage-push prints; repeatable.", valueName: "host"))
    var ssh: [String] = []

    @Flag(help: "Show invented data.")
    var demo = false

    static func main() async {
        if let name = ProgramArguments.given.first, Subcommands.names.contains(name) {
            return await Subcommands.runProgram()
        }
        await runProgram()
    }

    func validate() throws {
        if json, watch { throw ValidationError("--json cannot be combined with --watch") }
        if json, plain { throw ValidationError("--json cannot be combined with --plain") }
        if window != nil, !watch || plain {
            throw ValidationError("--window names a window of --watch without --plain")
        }
        if !ssh.isEmpty, watch || demo { throw ValidationError("--ssh goes with neither --watch nor --demo") }
        if let host = ssh.first(where: { !RemoteHost.isValidName($0) }) {
            throw ValidationError("'\(host)' is no name of a host")
        }
        if ssh.count > RemoteUsage.hostLimit { throw ValidationError("at most \(RemoteUsage.hostLimit) hosts") }
        if mouse, !watch { throw ValidationError("--mouse needs --watch") }
    }

    func run() async throws {
        if demo {
            let data = DemoUsage.live(at: Date())
            guard watch else { return try print(data.usage) }
            // It has no end, as that of a store.
            let (stream, continuation) = AsyncStream.makeStream(of: LiveData.self)
            continuation.yield(data)
            return try await show(stream)
        }
        if !ssh.isEmpty { return try print(try RemoteUsage(hosts: ssh).data()) }
        let reader = try reading.open(isLive: watch)
        defer { reader.store.close() }
        if watch {
            try await show(LiveReader(reader).live()) { await reader.verify() }
        } else {
            try print(await reader.refreshed(within: reading.timeout))
        }
    }

    private var environment: [String: String] { ProcessInfo.processInfo.environment }

    private var options: ViewOptions {
        ViewOptions(
            measure: measure ?? .used, isAbsolute: absolute, sortOrder: sort ?? .tightest,
            isUnicode: ColorPolicy.isUnicode(environment: environment),
            isTwelveHour: ColorPolicy.isTwelveHour(environment: environment),
            selection: UsageSelection(providers: accounts.provider, account: accounts.account))
    }

    private var isColored: Bool {
        ColorPolicy.isColored(choice: color, environment: environment, isTerminal: Console.isOutputTerminal)
    }

    private func model(_ data: UsageData) -> ViewModel {
        ViewModel(data: redact ? data.redacted : data, now: Date(), zone: .local, options: options)
    }

    private func print(_ data: UsageData) throws {
        let model = model(data)
        if options.selection != UsageSelection(), data.usage?.providers.isEmpty == false, model.providers.isEmpty {
            let all = ViewModel(data: data, now: model.now, zone: .local)
            throw CommandFailure(.usage, options.selection.absence(in: all, items: []))
        }
        if json { return try Console.printJSON(UsageReport(model), isIndented: true) }
        if plain || Console.isOutputTerminal && environment["TERM"] == "dumb" {
            return try print(PlainFacts(model).lines)
        }
        // The prompt takes a line.
        let terminal = Console.outputSize
        let size = ScreenSize(columns: terminal?.columns ?? 80, rows: terminal?.rows.map { max(1, $0 - 1) })
        let screen = ScreenLayout.screen(for: model, size: size)
        try Console.write(Data(screen.text(isColored: isColored).utf8))
    }

    private func print(_ lines: [String]) throws { try Console.write(Data(lines.map { $0 + "\n" }.joined().utf8)) }

    private func show(
        _ data: some AsyncSequence<LiveData, Never> & Sendable, verify: @escaping @Sendable () async -> Void = {}
    ) async throws {
        if plain || !TerminalSession.isPossible(environment) { return try await printChanges(of: data) }
        let session = try TerminalSession(usesMouse: mouse, advice: "print once without --watch")
        let isRedacted = redact
        let files = WindowFiles(
            window: WindowFiles.identity(
                named: window, environment: environment, terminal: ttyname(STDIN_FILENO).map { String(cString: $0) }),
            environment: environment)
        await LiveLoop(
            session: session, zone: .local, isColored: isColored, now: { Date() }, verify: verify, files: files
        ).run(state: initialState(files), data: data.map { isRedacted ? $0.redacted : $0 })
    }

    /// The window as it was, with the choices of the command line.
    private func initialState(_ files: WindowFiles) -> LiveState {
        var state = LiveState()
        state.settings = files.settings ?? state.settings
        state.scene = files.scene ?? state.scene
        state.isUnicode = options.isUnicode
        state.isTwelveHour = options.isTwelveHour
        state.selection = options.selection
        state.hasTrueColor = ColorPolicy.hasTrueColor(environment: environment)
        state.measure = measure
        state.isAbsolute = absolute ? true : nil
        if let sort { state.scene.sortOrder = sort }
        return state
    }

    /// Prints all facts, and from then on each that changes, also those that only time changes.
    private func printChanges(of data: some AsyncSequence<LiveData, Never> & Sendable) async throws {
        var shown: UsageData?
        var former: PlainFacts?
        try await UsageLoop<Never>().run(data.map(\.usage), AsyncStream { $0.finish() }) { event in
            if case .data(let data) = event { shown = data }
            guard let shown else { return .wait(until: nil) }
            let model = model(shown)
            let facts = PlainFacts(model)
            try print(former.map { facts.changes(since: $0) } ?? facts.lines)
            former = facts
            return .wait(until: model.nextChange)
        }
    }
}

/// The program without options of its own, which would be taken from those of a subcommand where both have the same
/// name.
private struct Subcommands: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: UsageView.configuration.commandName,
        version: UsageView.configuration.version,
        subcommands: UsageView.configuration.subcommands)

    static var names: [String] { configuration.subcommands.compactMap { $0.configuration.commandName } }
}

extension ViewOptions.Measure: EnumerableFlag {}
extension ViewOptions.SortOrder: ExpressibleByArgument {}
extension ColorPolicy.Choice: ExpressibleByArgument {}
