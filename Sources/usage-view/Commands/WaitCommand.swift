import ArgumentParser
import Commands
import Essentials
import KVStoreEssentials
import TerminalText
import UsageState

extension UsageView {
    struct WaitCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "wait",
            abstract:
                "Wait until a limit is reset or no longer near, for scripts that resume work.",
            discussion: """
                Exits immediately if the condition already holds. Waits for new numbers and for the clock, also over a \
                suspend of the machine. --until-reset waits for the window with the least left; \
                a number that is old counts as what it says until its reset.

                EXAMPLES
                  usage-view wait --until-reset codex && codex exec resume --last
                  usage-view wait --until-below 50 --provider claude --timeout 6h

                EXIT STATUS
                  0 condition met · 1 timed out · 64 usage error
                  69 nothing is known to wait for, or the replica cannot be opened
                  130 interrupted by Control-C, 143 by SIGTERM
                """)

        @Option(
            help: ArgumentHelp("Wait until this provider's limit is reset.", valueName: "provider"),
            completion: .storedProviders)
        var untilReset: String?

        @Option(
            help: ArgumentHelp(
                "Wait until less than this is used of all windows, or of those that are named.", valueName: "percent"))
        var untilBelow: Double?

        @OptionGroup var selected: SelectionOptions

        @Option(
            help: ArgumentHelp("Give up after this time: 90s, 30m, 6h, 2d.", valueName: "duration"),
            transform: DurationArgument.seconds)
        var timeout: TimeInterval?

        @Flag(name: .shortAndLong, help: "Show no progress, also on a terminal.")
        var quiet = false

        @OptionGroup var store: StoreOption

        func validate() throws {
            guard (untilReset == nil) != (untilBelow == nil) else {
                throw ValidationError("give either --until-reset PROVIDER or --until-below PERCENT")
            }
            if untilReset != nil, !selected.accounts.provider.isEmpty {
                throw ValidationError("--until-reset names the provider; leave out --provider")
            }
            if let untilBelow, !(0.0.nextUp...1_000).contains(untilBelow) {
                throw ValidationError("--until-below must be a percentage above 0, at most 1000")
            }
        }

        func run() async throws {
            let reader: UsageReader
            do {
                reader = try UsageReader.open(storeNamed: store.name, isLive: true)
            } catch let error as StoreError {
                throw CommandFailure(.unavailable, error.description)
            }
            defer { reader.store.close() }
            var selection = selected.selection
            if let untilReset { selection.providers = [untilReset] }
            let outcome = try await UsageWaiter(
                wait: untilBelow.map { .below(percent: $0) } ?? .reset(UsageWait.ResetGoal()),
                selection: selection, deadline: timeout.map { Date().addingTimeInterval($0) },
                showsProgress: !quiet && Console.isErrorTerminal
            ).run(reader)
            switch outcome {
            case .reached: return
            case .timedOut: throw ExitCode(ExitStatus.failure.rawValue)
            case .interrupted(let number): throw ExitCode(128 + number)
            case .unknown(let reason):
                throw CommandFailure(.unavailable, "nothing to wait for: \(reason)")
            }
        }
    }
}
