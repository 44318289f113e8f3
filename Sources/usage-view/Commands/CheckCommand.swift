import ClockZones
import ArgumentParser
import Commands
import Essentials
import KVStoreEssentials
import TerminalText
import UsageState

extension UsageView {
    struct CheckCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", _superCommandName: "usage-view",
            abstract: "Succeed unless a limit is nearly reached: a gate for scripts.",
            discussion: """
                Compares all windows, or those that are named, with --max. Numbers that are old, \
                and windows that were reset since they were read, are ignored; estimates count.

                EXAMPLES
                  usage-view check && claude -p "$task"
                  usage-view check --max 75 --provider codex --window weekly --quiet
                  usage-view check --timeout 2 --json     ask the daemon first

                EXIT STATUS
                  0 safe: no window has more than --max percent used
                  1 over: at least one has
                  64 usage error
                  69 unknown: nothing is known, or only old numbers (0 with --fail-open)
                """)

        @Option(help: ArgumentHelp("Maximum percentage used.", valueName: "percent"))
        var max = 90.0

        @OptionGroup var selected: SelectionOptions

        @Flag(help: "Succeed if usage is unknown.")
        var failOpen = false

        @Option(help: "Seconds to wait for the daemon's newer numbers; 0 reads only this machine's.")
        var timeout = 0.0

        @Flag(help: "Print JSON, described by docs/usage-report.schema.json.")
        var json = false

        @Flag(name: .shortAndLong, help: "Print nothing.")
        var quiet = false

        @OptionGroup var store: StoreOption

        func validate() throws {
            guard (0...1_000).contains(max) else {
                throw ValidationError("--max must be a percentage between 0 and 1000")
            }
            guard (0...60).contains(timeout) else {
                throw ValidationError("--timeout must be between 0 and 60 seconds")
            }
            if json, quiet { throw ValidationError("--json cannot be combined with --quiet") }
        }

        func run() async throws {
            let data = try await data()
            let model = ViewModel(data: data, now: Date(), zone: .local)
            let gate = UsageGate(model, selection: selected.selection, maxPercent: max)
            if json {
                try Console.printJSON(CheckReport(gate, now: model.now), isIndented: true)
            } else if !quiet {
                try Console.print(Self.text(gate, model: model))
            }
            switch gate.outcome {
            case .safe: return
            case .over: throw ExitCode(ExitStatus.failure.rawValue)
            case .unknown:
                if !failOpen { throw ExitCode(ExitStatus.unavailable.rawValue) }
            }
        }

        private func data() async throws -> UsageData {
            guard timeout > 0 else { return LocalUsage(storeName: store.name).read() }
            let reader: UsageReader
            do {
                reader = try UsageReader.open(storeNamed: store.name, isLive: false)
            } catch let error as StoreError {
                return UsageData(link: .notJoined, stored: .unreadable(reason: error.description))
            }
            defer { reader.store.close() }
            return await reader.refreshed(within: timeout)
        }

        /// "safe: Codex 5h 42 % used · 1h 30m", "unknown: the numbers are old".
        static func text(_ gate: UsageGate, model: ViewModel) -> String {
            guard let deciding = gate.deciding else {
                var reason = gate.reason ?? ""
                if case .unreadable(let cause) = model.data.stored { reason = cause }
                return "unknown: " + VisibleText.escape(reason)
            }
            let line = StatusText(line: UsageLine(model), measure: model.options.measure, times: model.times)
            return gate.outcome.rawValue + ": " + line.styled(deciding).plainText
        }
    }
}
