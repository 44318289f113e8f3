import ArgumentParser
import Commands
import Essentials
import LocalFiles
import TerminalText
import UsagePusher
import UsageState

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Start an agent, or a script that uses one, only while its limits allow.",
        discussion: """
            Looks at the rules of 'usage-view gate', and at --max, with the numbers of all machines that are known here, \
            and then becomes the command: terminal, signals and exit status are the command's own. What is not known \
            never keeps it from starting. See docs/gate.md.

            Of Claude Code with --output-format stream-json each byte passes through unchanged, and the limits that it \
            states are kept for the next push. If Claude refuses because of a limit, and the command fails, the \
            status is 75.

            EXAMPLES
              usage-push run -- claude -p "write the tests"
              usage-push run --max 90 --wait --at-most 7d -- codex exec "next ticket"
              usage-push run --provider claude --max 80 -- ./nightly.sh

            EXIT STATUS
              that of the command, if it was started
              64 usage error · 75 not started, or refused by the provider: a limit, named on standard error
              126 or 127 the command cannot be run, or found
            """)

    @Option(
        name: [.customLong("provider"), .customLong(Self.ownOption)],
        help: ArgumentHelp(
            "Whose limits count: a provider's id or name; by default those of the tool that the command is.",
            valueName: "id"),
        completion: .list(UsageSources.all.map(\.providerID)))
    var provider: String?

    private static let ownOption = "limits-of"

    /// `--provider` under a name of its own, which `usage-push`, whose parser would take it, does not have.
    static func namingProvider(in arguments: [String]) -> [String] {
        guard arguments.first == configuration.commandName else { return arguments }
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        return arguments[..<end].map { argument in
            argument == "--provider" || argument.hasPrefix("--provider=")
                ? "--" + ownOption + argument.dropFirst("--provider".count) : argument
        } + arguments[end...]
    }

    @Option(help: ArgumentHelp("Do not start when this much of any limit is used.", valueName: "percent"))
    var max: Double?

    @Flag(help: "Wait for the reset, or until the numbers or rules allow it, instead of ending with 75.")
    var wait = false

    @Option(
        help: ArgumentHelp(
            "How long --wait waits: 90s, 30m, 8h, 7d; default that of the rule, or 6h.", valueName: "duration"),
        transform: DurationArgument.seconds)
    var atMost: TimeInterval?

    @Flag(help: "Print why it is not started as JSON.")
    var json = false

    @Argument(
        parsing: .postTerminator,
        help: ArgumentHelp("The command and its arguments, after --.", valueName: "command"))
    var command: [String]

    private var agent: AgentCommand { AgentCommand(words: command) }
    private var tool: String? { provider ?? agent.provider }
    private var limit: GateRule? { max.map { GateRule(provider: tool, .used(percent: $0), then: .stop) } }

    func validate() throws {
        guard command.first?.isEmpty == false else {
            throw ValidationError("no command: use usage-push run -- COMMAND")
        }
        if tool == nil {
            throw ValidationError(
                "whose limits count for '\(VisibleText.escape(agent.name))'? Add --provider \(UsageSources.all.choice)."
            )
        }
        if limit?.isValid == false { throw ValidationError("--max must be 1 to 1000") }
        if atMost != nil, !wait { throw ValidationError("--at-most belongs to --wait") }
    }

    func run() throws {
        try pass()
        if tool?.lowercased() == "claude", agent.streams {
            try relay()
        } else {
            // The parser has taken the words behind the first "--", as text.
            ProgramArguments.become(at: ProgramArguments.all.count - command.count)
        }
        let code = errno
        Console.report("cannot run \(command[0]): \(String(cString: strerror(code)).lowercased())")
        throw ExitCode(code == ENOENT ? 127 : 126)
    }

    /// Returns if the command may start.
    private func pass() throws {
        let request = GateRequest(
            provider: tool ?? "", model: agent.model, directory: FileManager.default.currentDirectoryPath,
            madeAt: Date())
        let gate = RunGate(request, limit: limit)
        if let provider, let problem = gate.usage.misspelling(of: provider) {
            throw CommandFailure(.usage, problem)
        }
        var decision = gate.decide()
        if wait, decision.refuses, var rule = decision.verdict?.rule {
            rule.waitLimit = atMost ?? rule.waitLimit
            Console.report(RunText(limit: limit, now: Date()).waiting(decision, waitLimit: rule.waitLimit))
            decision = RunGate.wait(rule, decision, decide: gate.decide)
        }
        let text = RunText(limit: limit, waits: wait, now: Date())
        guard decision.refuses else {
            if let sentence = text.start(decision) { Console.report(sentence) }
            return
        }
        let sentence = text.refusal(decision)
        // The status says it, too.
        if json { try? Console.printJSON(RunRefusal(decision, sentence: sentence)) }
        throw CommandFailure(.temporaryFailure, sentence)
    }

    /// Runs the command, and ends as it does. Returns only if it cannot be started, with the reason in `errno`.
    private func relay() throws {
        // It passes them on as text.
        _ = ProgramArguments.given
        var stream = ClaudeStream()
        var keeper = StreamLimits()
        let end = StreamRelay.run(command) { bytes in
            for object in stream.objects(in: bytes) { keeper.keep(object) }
        }
        guard let end else { return }
        // From 128 on somebody has ended it.
        guard (1..<128).contains(end), let (rejection, date) = keeper.rejection else { ChildProcess.end(as: end) }
        func decide() -> GateDecision { GateDecision(rejection, at: date, now: Date()) }
        let decision = decide()
        var rule = wait && rejection.resetsAt != nil ? decision.verdict?.rule : nil
        rule?.waitLimit = atMost ?? GateRule.defaultWaitLimit
        Console.report(
            RunText(now: Date()).rejection(decision, name: agent.name, status: end, waitLimit: rule?.waitLimit))
        if let rule { _ = RunGate.wait(rule, decision, decide: decide) }
        if let resumption = RunText.resumption(keeper.session) { Console.report(resumption) }
        throw ExitCode(ExitStatus.temporaryFailure.rawValue)
    }
}

/// What a stream of Claude Code has said of limits. Each reading is kept for the next push.
private struct StreamLimits {
    private(set) var session: String?
    /// Nil unless the last message about limits is one.
    private(set) var rejection: (ClaudeStreamMessage.Rejection, at: Date)?
    private var last: ClaudeStreamMessage?
    private var hasFailed = false

    mutating func keep(_ object: Data) {
        guard let message = ClaudeStreamMessage(object) else { return }
        session = message.session ?? session
        guard message.isAboutLimits else { return }
        let now = Date()
        rejection = message.rejection.map { ($0, at: now) }
        guard message != last else { return }
        last = message
        do throws(FileError) {
            let environment = ReadingOptions.ownEnvironment
            try ClaudeStatuslineStore(environment).save(
                message, account: ClaudeSource.presentAccount(in: environment), at: now)
        } catch {
            if !hasFailed { Console.report("the limits are not saved: \(error)") }
            hasFailed = true
        }
    }
}
