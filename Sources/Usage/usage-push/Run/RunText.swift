import Essentials
import TerminalText
import UsageState

/// The runner's messages, one line each. Escaped.
struct RunText {
    /// The rule that `--max` states.
    var limit: GateRule?
    /// Whether `--wait` was given.
    var waits = false
    var now: Date

    /// Why the command is not started.
    func refusal(_ decision: GateDecision) -> String {
        guard let (fact, rule) = parts(decision), rule == limit || rule.action == .pause else {
            return decision.userMessage(now: now)
        }
        return "\(fact). Not started by \(reason(rule))" + (waits ? "." : "; --wait waits for the reset.")
    }

    /// Why the command waits, and for how long at most.
    func waiting(_ decision: GateDecision, waitLimit: TimeInterval) -> String {
        guard let (fact, rule) = parts(decision) else { return decision.userMessage(now: now) }
        return "\(fact). Waiting by \(reason(rule))\(bound(waitLimit))."
    }

    /// For a command that starts; nil if there is nothing to report.
    func start(_ decision: GateDecision) -> String? {
        if decision.verdict != nil { return decision.userMessage(now: now) }
        // Whoever names a limit expects that it holds.
        guard let limit, let reason = decision.reason else { return nil }
        let own = decision.verdicts.filter { $0.rule == limit }
        let isChecked = own.contains {
            [.allows(.below), .allows(.expired), .allows(.otherModel)].contains($0.outcome)
        }
        return isChecked ? nil : "\(self.reason(limit)) is not checked; \(decision.explanation(of: reason))"
    }

    /// For a command that failed because the provider refused its requests.
    ///
    /// - Parameter waitLimit: seconds to wait for the reset; nil without `--wait`.
    func rejection(_ decision: GateDecision, name: String, status: Int32, waitLimit: TimeInterval?) -> String {
        let fact = decision.summary(now: now) ?? "a limit was reached, and has been reset"
        return "\(name) ended with status \(status): \(fact)"
            + (waitLimit.map { ". Waiting for the reset\(bound($0))." } ?? "")
    }

    static func resumption(_ session: String?) -> String? { session.map { "to resume: claude --resume " + $0 } }

    private func parts(_ decision: GateDecision) -> (fact: String, rule: GateRule)? {
        guard let rule = decision.verdict?.rule, let fact = decision.summary(now: now) else { return nil }
        return (fact, rule)
    }

    private func bound(_ waitLimit: TimeInterval) -> String {
        ", at most \(DurationFormatter.countdown(to: now + waitLimit, from: now)); an interruption ends it"
    }

    private func reason(_ rule: GateRule) -> String {
        if rule == limit, case .used(let percent) = rule.threshold {
            return "--max " + AmountFormatter.percent(percent)
        }
        return "your rule (\(VisibleText.escape(rule.text)))"
    }
}

/// A refusal as JSON.
struct RunRefusal: Encodable, Equatable {
    var allowed = false
    var sentence: String
    var action: GateRule.Action?
    var rule: String?
    var provider: String?
    var account: String?
    var window: String?
    var usedPercent: Double?
    var resetsAt: Date?
    /// The machine that the number is from, and when.
    var machine: String?
    var observedAt: Date?

    init(_ decision: GateDecision, sentence: String) {
        let verdict = decision.verdict
        self.sentence = sentence
        action = decision.action
        rule = verdict?.rule.text
        provider = verdict?.account?.provider
        account = verdict?.account?.account
        window = verdict?.window?.label
        usedPercent = verdict?.window?.used
        resetsAt = verdict?.window?.resetsAt
        machine = verdict?.account?.machine
        observedAt = verdict?.observedAt
    }
}
