import ArgumentParser
import Commands
import Essentials
import KVStoreHTTP
import TerminalText

struct RulesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rules", abstract: "Regular expressions of texts that are not kept.",
        discussion: """
            A copy whose text has a match is not kept, on any machine. The syntax is that of PCRE2, with \
            the Unicode classes of \\w, \\d and \\s. An expression that takes longer than 50 ms on a text counts as a match.
            """,
        subcommands: [List.self, Add.self, Remove.self, Check.self], defaultSubcommand: List.self)

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List them.")

        @Flag(help: "Print a JSON array.")
        var json = false

        func run() throws {
            let rules = try ClipSettings.read().rules
            if json { return try Console.printJSON(rules) }
            for (index, rule) in rules.enumerated() {
                try Console.print("\(index + 1)\t" + VisibleText.escape(rule))
            }
            for (index, error) in IgnoreRules(rules).invalid {
                Console.report("rule \(index + 1) is not used: \(error.reason)")
            }
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "add", abstract: "Add one.")

        @Argument(help: "The regular expression.")
        var pattern: String

        func run() async throws {
            var rules = try await RulesCommand.newest()
            guard !rules.contains(pattern) else { return }
            rules.append(pattern)
            if let (_, error) = IgnoreRules(rules).invalid.first(where: {
                $0.index == rules.count - 1
            }) {
                throw CommandFailure(.usage, "not a rule: \(error.reason)")
            }
            try await RulesCommand.store(rules)
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "remove", abstract: "Remove one.")

        @Argument(help: "Its number in the list.")
        var number: Int

        func run() async throws {
            var rules = try await RulesCommand.newest()
            guard number > 0, number <= rules.count else {
                throw CommandFailure(.failure, "there is no rule \(number)")
            }
            rules.remove(at: number - 1)
            try await RulesCommand.store(rules)
        }
    }

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Say whether standard input would be kept; nothing is added.")

        func run() throws {
            let data = try InputOutput.readInput(byteCount: ContentCache.contentsByteLimit)
            let filter = try DeviceSettings.read().filter(ClipSettings.read())
            let offer = Offer([("text/plain", data)])
            switch filter.decide(offer, timer: MatchTimer(ContinuousClock())) {
            case .keep: try Console.print("kept")
            case .skip(let reason):
                try Console.print("not kept: \(reason)")
                throw ExitCode(ExitStatus.failure.rawValue)
            }
        }
    }

    /// With those of other machines, which would otherwise be replaced.
    private static func newest() async throws -> [String] {
        let preferences = SyncedPreferences()
        // They are merged later all the same.
        if preferences.environment.isJoined { try? await preferences.synchronize() }
        return try ClipSettings.read(preferences).rules
    }

    private static func store(_ rules: [String]) async throws {
        var settings = ClipSettings()
        settings.rules = rules
        SyncedPreferences.report(
            try await SyncedPreferences().set(
                rules.isEmpty ? nil : ClipSettings.ignoreRules.text(settings),
                forKey: ClipSettings.prefix + ClipSettings.ignoreRules.name))
    }
}
