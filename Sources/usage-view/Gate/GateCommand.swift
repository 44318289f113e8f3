import ArgumentParser
import ClockZones
import Commands
import Essentials
import KVStoreEssentials
import LocalFiles
import TerminalText
import UsagePusher
import UsageState

struct GateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gate", abstract: "Stop agents before a limit, and let them go on after its reset.",
        discussion: """
            A tool asks the gate before each call, through its hooks. What is not known never stops one: no \
            numbers, old ones, an estimate or a damaged file let every call pass. See docs/gate.md.

            EXAMPLES
              usage-view gate install
              usage-view gate set --at 90 --then tell
              usage-view gate set --at 95 --window weekly --provider claude --then pause
              usage-view gate set --at 95 --window weekly --then stop --everywhere
              usage-view gate status
              usage-view gate remove 1
            """,
        subcommands: [Install.self, Status.self, Set.self, Remove.self, Hook.self], defaultSubcommand: Status.self)

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "List the rules, what each would say now and why, and the last decisions.")

        @Flag(help: "Print JSON.")
        var json = false

        @OptionGroup var store: StoreOption

        func run() async throws {
            let files = GateFiles()
            var pausedAgents: [PausedAgent] = []
            var usage = GateUsage(reading: files.read(files.usage))
            // Without a replica the former usage counts.
            if let reader = try? UsageReader.open(storeNamed: store.name, isLive: false) {
                var data = reader.data(isOnline: false)
                usage = reader.gateUsage(data)
                if let own = UsageReader.device?.lowercased() { data.waits[own] = nil }
                pausedAgents = ViewModel(data: data, now: Date(), zone: .local).pausedAgents
                reader.store.close()
            }
            let hooks = HookFile.withHooks(includesUnread: false).map { file, hooks in
                GateReport.Hooks(
                    tool: file.tool, areInstalled: file.contains(hooks),
                    turnedOffIn: file.turnsHooksOff ? file.settings.path : nil)
            }
            let report = GateReport(
                hooks: hooks, usage,
                own: GateRules(reading: files.read(files.rules)), in: files.rules.path,
                sessions: files.sessions().mapValues { GateSession(reading: $0) }, pausedAgents: pausedAgents,
                now: Date())
            if json { return try Console.printJSON(report, isIndented: true) }
            for line in report.lines { try Console.print(line) }
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Add a rule, or change the threshold of one.",
            discussion: """
                ACTIONS
                  tell    the model gets one sentence, once in a session
                  ask     the tool's own dialogue, where it has one
                  pause   the call waits for the reset, --at-most so long, and then goes on
                  stop    the turn ends

                EXAMPLES
                  usage-view gate set --at 98 --then stop
                  usage-view gate set --runs-out-within 30m --provider codex --then tell
                  usage-view gate set --at 95 --window weekly --then pause --at-most 8h
                """)

        @Option(help: ArgumentHelp("When this much is used.", valueName: "percent"))
        var at: Double?

        @Option(
            help: ArgumentHelp("When the limit is reached so soon at this pace.", valueName: "duration"),
            transform: DurationArgument.seconds)
        var runsOutWithin: TimeInterval?

        @Option(help: "What happens: tell, ask, pause or stop.")
        var then: GateRule.Action

        @Option(help: "Only this provider, by id or name.", completion: .storedProviders)
        var provider: String?

        @Option(help: "Only this account.")
        var account: String?

        @Option(help: "Only this window: session, weekly, or a label such as 5h, 7d or Opus.")
        var window: String?

        @Option(
            help: ArgumentHelp("How long pause waits at most; default 6h, at most 24h.", valueName: "duration"),
            transform: DurationArgument.seconds)
        var atMost: TimeInterval?

        @Option(
            help: ArgumentHelp("Only for agents that work in this directory or below.", valueName: "path"),
            completion: .directory)
        var directory: String?

        @Flag(help: "On all machines of the account.")
        var everywhere = false

        @OptionGroup var store: StoreOption

        func validate() throws { _ = try rule() }

        func run() async throws {
            let rule = try rule()
            if let provider, let problem = GateCommand.usage(storeNamed: store.name).misspelling(of: provider) {
                throw CommandFailure(.usage, problem)
            }
            if everywhere {
                let delivery = try await UsageReader.change(storeNamed: store.name) { values in
                    let others = GateRules(stored: values).rules.filter { !$0.hasSameScope(as: rule) }
                    guard others.count < GateRules.countLimit else { throw tooMany }
                    return (GateRules.storeKey(of: rule), rule.data)
                }
                try Console.print("set on all machines: " + VisibleText.escape(rule.text) + delivery)
            } else {
                try GateCommand.change(GateFiles()) { rules throws(CommandFailure) in
                    rules.set(rule)
                    guard rules.rules.count <= GateRules.countLimit else { throw tooMany }
                }
                try Console.print("set: " + VisibleText.escape(rule.text))
            }
            for note in GateCommand.updateUsage(storeNamed: store.name, for: [rule]) { Console.note(note) }
        }

        private var tooMany: CommandFailure {
            CommandFailure(.configuration, "no more than \(GateRules.countLimit) rules can be set")
        }

        private func rule() throws -> GateRule {
            let threshold: GateRule.Threshold
            switch (at, runsOutWithin) {
            case (let percent?, nil): threshold = .used(percent: percent)
            case (nil, let seconds?): threshold = .runsOut(within: seconds)
            default: throw ValidationError("give either --at PERCENT or --runs-out-within DURATION")
            }
            if atMost != nil, then != .pause { throw ValidationError("--at-most belongs to --then pause") }
            var rule = GateRule(provider: provider, account: account, window: window, threshold, then: then)
            rule.waitLimit = atMost ?? rule.waitLimit
            rule.directory = directory
            guard rule.isValid else {
                throw ValidationError(
                    "--at must be 1 to 1000, --runs-out-within 1m to 30d, --at-most 1m to 24h, and --directory "
                        + "an absolute path")
            }
            return rule
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove a rule by its number in 'gate status', on all machines if it is one of the account.")

        @Argument(help: "The number of the rule.")
        var number: Int

        @OptionGroup var store: StoreOption

        func run() async throws {
            let files = GateFiles()
            let ownCount = GateRules(reading: files.read(files.rules)).rules.count
            guard number > ownCount else {
                var removed: GateRule?
                try GateCommand.change(files) { rules throws(CommandFailure) in
                    guard rules.rules.indices.contains(number - 1) else { throw unknown }
                    removed = rules.rules.remove(at: number - 1)
                }
                return try Console.print("removed: " + VisibleText.escape(removed?.text ?? ""))
            }
            var removed: GateRule?
            let delivery = try await UsageReader.change(storeNamed: store.name) { values in
                let rules = GateRules(stored: values).rules
                guard rules.indices.contains(number - ownCount - 1) else { throw unknown }
                let rule = rules[number - ownCount - 1]
                removed = rule
                return (GateRules.storeKey(of: rule), nil)
            }
            try Console.print("removed on all machines: " + VisibleText.escape(removed?.text ?? "") + delivery)
        }

        private var unknown: CommandFailure {
            CommandFailure(.usage, "there is no rule \(number); see usage-view gate status")
        }
    }

    struct Hook: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "hook",
            abstract: "Answer a hook of a tool, which passes it JSON; always exits 0.")

        @Argument(parsing: .allUnrecognized, help: ArgumentHelp("\(Self.tools).", valueName: "tool"))
        var tool: [String] = []

        private static var tools: String { GateTool.allCases.map(\.rawValue).joined(separator: ", ") }

        /// Those that `GateHook` takes do not come here. A call passes, whatever a settings file says.
        func run() {
            Console.report("the call passes: the tool must be one of \(Self.tools), without further arguments")
        }
    }

    /// What the gate knows; on a machine with rules or hooks it is written for these, as no pusher may have done that.
    /// Nothing without a replica.
    private static func usage(storeNamed name: String) -> GateUsage {
        // As described.
        guard let reader = try? UsageReader.open(storeNamed: name, isLive: false) else { return GateUsage() }
        defer { reader.store.close() }
        return reader.gateUsage(reader.data(isOnline: false))
    }

    /// Writes what the hooks read.
    ///
    /// - Parameter rules: those that have just been set.
    /// - Returns: why they may stop nothing nevertheless. Escaped.
    static func updateUsage(storeNamed name: String, for rules: [GateRule] = []) -> [String] {
        // Where it cannot be written, calls pass.
        try? GateFiles().usage.directory.create()
        let usage = usage(storeNamed: name)
        var notes = rules.compactMap { $0.absence(in: usage) }.map { "matches nothing now: " + VisibleText.escape($0) }
        if HookFile.withHooks(includesUnread: false).contains(where: { $0.contains($1) }), !isPushed {
            notes.append(
                "no usage-push runs as a service here, and numbers that nobody keeps up to date soon stop no call; "
                    + "to start it: ubq doctor --fix")
        }
        return notes
    }

    /// Whether a service pushes here, or what `ubq` has started, which holds a lock.
    private static var isPushed: Bool {
        // A state that cannot be asked for is none.
        if (try? BackgroundService(program: "usage-push").report().state.isActive) ?? false { return true }
        let file = LocalFile(UserDirectories().state + "/usage-push.running")
        // Without a lock nobody is known to run.
        guard FileManager.default.fileExists(atPath: file.path), let turn = try? file.lock() else { return false }
        // Locks that cannot be tried are as good as none.
        return withExtendedLifetime(turn) { (try? FileLock(file.path).lockIfAvailable()) == false }
    }

    /// Reads, changes and writes the rules of this machine under a lock.
    private static func change(
        _ files: GateFiles, _ change: (inout GateRules) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        let lock = try CommandFailure.ending(.cannotCreate, files.rules.lock)
        defer { lock.unlock() }
        var rules = GateRules(reading: files.read(files.rules))
        if let issue = rules.issue {
            throw CommandFailure(.configuration, "\(files.rules.path): \(issue); correct or remove the file")
        }
        try change(&rules)
        try CommandFailure.ending(.cannotCreate) { () throws(FileError) in
            try files.write(rules.data, to: files.rules)
        }
    }
}

extension GateRule.Action: ExpressibleByArgument {}
