// The viewer: from the stored snapshots to lines of text, once or live. Not here: the payload and
// its merge (SnapshotModels).

import ArgumentParser
import CommandRunner
import CommandSupport
import Essentials
import KVStoreEssentials
import KVStoreHTTP
import TerminalText
import UsageState

@main
struct UsageView: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "usage-view",
        abstract: "Show how much of your AI coding tools' limits is used, and when they reset.",
        discussion: """
            Reads the local replica, which usage-push fills on this machine and kvsd keeps up to date \
            once you have run 'kvs join'. Works offline; old numbers are shown with their age.

            EXAMPLES
              usage-view                  print once
              usage-view --watch          keep running and redraw on changes
              usage-view --left           show percentages left
              usage-view --json           print JSON for scripts
              usage-view --demo           show invented data
              usage-view history          show the last days, and how often a limit was reached

            KEYS WITH --watch
              q quit · u used/left · a clock times · s sort · ? help

            EXIT STATUS
              0 printed, even if the data is old or incomplete · 64 usage error · 74 the replica
              cannot be read, or the output cannot be written
            """,
        version: ProgramVersion.text,
        subcommands: [HistoryCommand.self])

    @Flag(help: "Keep running and redraw when something changes.")
    var watch = false

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Show percentages used (default) or left.")
    var measure: ViewOptions.Measure = .used

    @Flag(help: "Show clock times in the local time zone instead of countdowns.")
    var absolute = false

    @Option(help: "Order of providers: name, or tightest (closest to a limit first).")
    var sort: ViewOptions.SortOrder = .name

    @Option(help: "Use color: auto, always or never. NO_COLOR is respected.")
    var color: ColorPolicy.Choice = .auto

    @OptionGroup var reading: ReadingOptions

    @Flag(help: "Show invented data.")
    var demo = false

    static func main() async {
        let failure = { @Sendable (error: any Error) in
            (error as? StoreError).map { CommandFailure(.ioError, $0.description) }
        }
        if let name = ProgramArguments.given.first, Subcommands.names.contains(name) {
            return await Subcommands.runProgram(failure: failure)
        }
        await runProgram(failure: failure)
    }

    func validate() throws {
        if json, watch { throw ValidationError("--json cannot be combined with --watch") }
    }

    func run() async throws {
        if demo {
            let data = DemoUsage.data(at: Date())
            return watch ? try await show(AsyncStream { $0.yield(data) }) : try print(data)
        }
        let reader = try reading.open(isLive: watch)
        defer { reader.store.close() }
        if watch {
            try await show(reader.live())
        } else {
            try print(reader.data(isOnline: await reader.refresh(within: reading.timeout)))
        }
    }

    private var environment: [String: String] { ProcessInfo.processInfo.environment }

    private var options: ViewOptions {
        ViewOptions(
            measure: measure, isAbsolute: absolute, sortOrder: sort,
            isUnicode: ColorPolicy.isUnicode(environment: environment))
    }

    private var isColored: Bool {
        ColorPolicy.isColored(
            choice: color, environment: environment, isTerminal: Console.isOutputTerminal)
    }

    private func print(_ data: UsageData) throws {
        let model = ViewModel(data: data, now: Date(), zone: .local, options: options)
        if json { return try Console.printJSON(UsageReport(model), isIndented: true) }
        let size = ScreenSize(columns: Console.outputColumns ?? 80)
        let screen = ScreenLayout.screen(for: model, size: size)
        try Console.write(Data(screen.text(isColored: isColored).utf8))
    }

    private func show(_ data: some AsyncSequence<UsageData, Never> & Sendable) async throws {
        let session = try TerminalSession()
        await LiveLoop(
            session: session, zone: .local, isColored: isColored, now: { Date() }
        ).run(options: options, data: data)
    }
}

/// The program without options of its own, which would be taken from those of a subcommand where both have the same name.
private struct Subcommands: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: UsageView.configuration.commandName,
        version: UsageView.configuration.version,
        subcommands: UsageView.configuration.subcommands)

    static var names: [String] {
        configuration.subcommands.compactMap { $0.configuration.commandName }
    }
}

extension ViewOptions.Measure: EnumerableFlag {}
extension ViewOptions.SortOrder: ExpressibleByArgument {}
extension ColorPolicy.Choice: ExpressibleByArgument {}
