import Essentials
import SnapshotModels
import TerminalText
import UsagePusher
import UsageState

/// What `usage-view gate status` prints.
struct GateReport: Encodable {
    /// In one home of a tool.
    struct Hooks: Encodable {
        var tool: String
        var areInstalled: Bool
        /// The file whose `disableAllHooks` keeps the tool from calling any; nil if none does.
        var turnedOffIn: String?
    }

    private struct Rule: Encodable {
        var number: Int
        var text: String
        var isOnAllMachines: Bool
        /// What it says of each window now, with the reason. Escaped.
        var says: [String]
        /// Why it is about no limit that is known; nil if it is about one.
        var absence: String?
    }

    private struct Session: Encodable {
        var tool: String
        var action: String
        var sentence: String
        var secondsAgo: Int
        var isWaiting: Bool
    }

    private let hooks: [Hooks]
    private let issue: String?
    /// That of this machine, if a rule in it cannot be used.
    private let brokenFile: String?
    private let rules: [Rule]
    private let sessions: [Session]
    private let pausedAgents: [PausedAgent]
    private let now: Date

    private static let sessionLimit = 10

    private enum CodingKeys: CodingKey { case hooks, issue, brokenFile, rules, sessions, pausedAgents }

    /// - Parameters:
    ///   - own: the rules of this machine, which come first.
    ///   - file: the one that has them.
    ///   - pausedAgents: those of other machines.
    init(
        hooks: [Hooks], _ usage: GateUsage, own: GateRules, in file: String, sessions: [String: GateSession],
        pausedAgents: [PausedAgent], now: Date
    ) {
        self.pausedAgents = pausedAgents
        self.now = now
        self.hooks = hooks
        brokenFile = own.issue.map { _ in file }
        let ownIssue = own.issue.map { "\(file): \($0); correct or remove the file" }
        issue = [ownIssue, usage.rules.issue, usage.issue].compactMap { $0 }.first
        let staleAfter = own.joined(with: usage.rules).staleAfter
        rules = (own.rules + usage.rules.rules).enumerated().map { index, rule in
            let absence = rule.absence(in: usage)
            return Rule(
                number: index + 1, text: rule.text, isOnAllMachines: index >= own.rules.count,
                says: absence.map { ["matches nothing now: " + VisibleText.escape($0)] }
                    ?? Self.sentences(rule, usage, staleAfter: staleAfter, now: now),
                absence: absence)
        }
        let notes = sessions.values.compactMap(\.last).sorted { $0.at > $1.at }
        self.sessions = notes.prefix(Self.sessionLimit).map { note in
            let isWaiting = note.waiting(now: now, isRunning: { ProcessID.isRunning($0) }) != nil
            return Session(
                tool: note.tool, action: note.action.rawValue, sentence: note.sentence,
                secondsAgo: now.timeIntervalSince(note.at).wholeSeconds, isWaiting: isWaiting)
        }
    }

    private static func sentences(
        _ rule: GateRule, _ usage: GateUsage, staleAfter: TimeInterval?, now: Date
    ) -> [String] {
        var rules = GateRules([rule])
        rules.staleAfter = staleAfter
        let bare = GateUsage(accounts: usage.accounts)
        let budgets = usage.accounts.flatMap { $0.budgets ?? [] }
        let tools = Set(usage.accounts.filter { $0.budgets == nil }.map(\.provider)).sorted()
        let requests =
            rule.isOfBudget
            ? budgets.map { request($0.provider ?? Budget.providerID, project: $0.project) }
            : tools.map { request($0, project: nil) }
        func request(_ provider: String, project: String?) -> GateRequest {
            var request = GateRequest(provider: provider, directory: rule.directory, madeAt: now)
            request.project = project
            return request
        }
        var sentences: [String] = []
        let decisions = requests.map { GateDecision(bare, own: rules, $0, now: now) }
        for verdict in decisions.flatMap(\.verdicts) {
            guard let fact = verdict.summary(now: now) else { continue }
            let sentence =
                switch verdict.outcome {
                case .applies: fact + ": " + rule.action.rawValue
                case .allows(let reason): fact + ": allowed, " + reason.text
                }
            if !sentences.contains(sentence) { sentences.append(sentence) }
        }
        if sentences.isEmpty {
            return ["allowed, " + (decisions.compactMap(\.reason).first ?? GateVerdict.Reason.absent).text]
        }
        return sentences
    }

    /// Escaped.
    var lines: [String] {
        var lines = issue.map { [VisibleText.escape($0)] } ?? []
        let missing = Set(hooks.filter { !$0.areInstalled }.map(\.tool)).sorted()
        if !missing.isEmpty {
            let tools = missing.compactMap { GateTool(rawValue: $0)?.title }.joined(separator: ", ")
            lines.append("Not asking the gate: \(tools); to change that: usage-view gate install")
        }
        for hooks in hooks {
            guard hooks.areInstalled, let tool = GateTool(rawValue: hooks.tool), let file = hooks.turnedOffIn else {
                continue
            }
            lines.append("\(tool.title) calls no hooks: disableAllHooks is true in \(VisibleText.escape(file))")
        }
        if rules.isEmpty { lines.append("No rules; to set one: usage-view gate set --at 95 --then stop") }
        for rule in rules {
            let place = rule.isOnAllMachines ? ", on all machines" : ""
            lines.append("\(rule.number)  " + VisibleText.escape(rule.text) + place)
            lines += rule.says.map { "   " + $0 }
        }
        for session in sessions {
            let state = session.isWaiting ? "paused" : session.action
            lines.append(
                "\(VisibleText.escape(session.tool)) \(state), \(session.secondsAgo / 60) min ago: "
                    + VisibleText.escape(session.sentence))
        }
        for agent in pausedAgents {
            lines.append(
                VisibleText.escape(
                    "\(agent.tool) paused on \(agent.device ?? "another machine"): \(agent.limit), resumes in ")
                    + DurationFormatter.countdown(to: agent.until, from: now))
        }
        return lines
    }
}
