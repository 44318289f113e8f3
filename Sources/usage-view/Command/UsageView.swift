import ArgumentParser
import CommandSupport
import Foundation
import KVStore
import KVStoreHTTP
import TerminalText

/// The limits of your AI coding tools, wherever they are used.
@main
struct UsageView: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "usage-view",
        abstract: "Shows how much of your AI coding tools' limits is used, and when they reset.",
        discussion: """
            Reads the local replica, which usage-push fills on this machine, or which kvsd keeps up to \
            date once you have run 'kvs join'. Works offline: old numbers say how old they are.

            EXAMPLES
              usage-view                  print once
              usage-view --watch          stay, and redraw when something changes
              usage-view --left           percents of what is left
              usage-view --json           for scripts
              usage-view --demo           invented data, to see what it looks like

            KEYS WITH --watch
              q quit · u used/left · a clock times · s sort · ? help

            EXIT STATUS
              0 printed, also when the data is old or partial · 64 wrong usage · 74 the replica
              cannot be read
            """,
        version: ProgramVersion.text)

    @Flag(help: "Keep the screen and redraw it when something changes.")
    var watch = false

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Show percents of what is used (default) or of what is left.")
    var measure: ViewOptions.Measure = .used

    @Flag(help: "Show resets as clock times in this machine's zone.")
    var absolute = false

    @Option(help: "Order of providers: name, or tightest (closest to a limit first).")
    var sort: ViewOptions.SortOrder = .name

    @Option(help: "Use colour: auto, always or never. NO_COLOR is respected.")
    var color: ColorPolicy.Choice = .auto

    @Option(help: "The store to read.")
    var store = StoreConfiguration.defaultStoreName

    @Option(help: "Seconds to wait for the daemon before showing what is here; 0 does not ask it.")
    var timeout = 2.0

    @Flag(help: "Show invented data.")
    var demo = false

    func validate() throws {
        guard StoreConfiguration.isValidStoreName(store) else {
            throw ValidationError(
                "'\(VisibleText.escape(store))' is not a store name: use letters, digits, '.', '_' or '-'."
            )
        }
        guard (0...60).contains(timeout) else {
            throw ValidationError("--timeout takes 0 to 60 seconds.")
        }
        if json, watch { throw ValidationError("--json prints once; leave --watch out.") }
    }

    static func main() async {
        Console.start(program: "usage-view", escaping: VisibleText.escape)
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            Console.exit(
                for: error, message: fullMessage(for: error),
                status: exitCode(for: error).rawValue)
        }
    }

    func run() async throws {
        if demo {
            let now = Date()
            let data = DemoUsage.data(at: now)
            return watch
                ? try await show(live: AsyncStream { nil }, first: data) : try printOnce(data)
        }
        let environment = StoreEnvironment()
        let reader: UsageReader
        do throws(StoreError) {
            reader = UsageReader(
                store: try UbiquitousKeyValueStore.open(
                    storeNamed: store, isLive: watch, environment: environment),
                now: { Date() })
        } catch {
            throw CommandFailure(.ioError, error.description)
        }
        // Before the live screen, so that they stand above the prompt when it is left.
        for text in reader.store.status.recoveryNotes { Console.report(text) }
        if watch {
            try await show(live: reader.live(), first: nil)
        } else {
            try printOnce(reader.data(await reader.refresh(within: timeout)))
        }
        reader.store.close()
    }

    private var environment: [String: String] { ProcessInfo.processInfo.environment }

    private var options: ViewOptions {
        ViewOptions(
            measure: measure, isAbsolute: absolute, sortOrder: sort,
            isUnicode: ColorPolicy.isUnicode(environment: environment))
    }

    private var isColored: Bool {
        ColorPolicy.isColored(
            choice: color, environment: environment,
            isTerminal: Console.isOutputTerminal)
    }

    private func printOnce(_ data: LiveData) throws {
        let model = ViewModel(
            link: data.link, stored: data.stored, now: Date(), zone: .current, options: options)
        if json {
            return try Console.write(JSONReport(model).encoded())
        }
        let columns = PlatformTerminal.size(of: STDOUT_FILENO)?.columns ?? 80
        let screen = ScreenLayout.screen(
            for: model, size: ScreenSize(columns: columns, rows: nil))
        try Console.write(Data(FrameEncoder.text(for: screen, isColored: isColored).utf8))
    }

    private func show(live: AsyncStream<LiveData>, first: LiveData?) async throws {
        let session: PosixTerminalSession
        do throws(TerminalError) {
            session = try PosixTerminalSession()
        } catch {
            throw ValidationError(error.description)
        }
        let (data, continuation) = AsyncStream.makeStream(
            of: LiveData.self, bufferingPolicy: .bufferingNewest(1))
        if let first { continuation.yield(first) }
        let relay = Task { for await value in live { continuation.yield(value) } }
        defer { relay.cancel() }
        await LiveLoop(
            session: session, zone: .current, isColored: isColored, now: { Date() }
        ).run(options: options, data: data)
    }
}

extension ViewOptions.Measure: EnumerableFlag {}
extension ViewOptions.SortOrder: ExpressibleByArgument {}
extension ColorPolicy.Choice: ExpressibleByArgument {}
