package import Essentials
import TerminalText

/// The messages of a decision, the same in the hook and in `gate status`. Escaped.
extension GateDecision {
    /// "Claude weekly: 96 % used (box, 3 min ago), resets in 2d 3h"; nil where no window decides.
    package func summary(now: Date) -> String? { verdict?.summary(now: now) }

    /// For the user whose turn ends or is paused.
    package func userMessage(now: Date) -> String {
        guard let verdict, let summary = summary(now: now) else { return explanation(of: reason ?? .noRule) }
        let effect =
            switch verdict.rule.action {
            case .tell, .ask: "You asked to be notified (\(verdict.rule.escapedText))."
            case .stop:
                "Stopped by your rule (\(verdict.rule.escapedText)); usage-view gate status numbers the rules, and "
                    + "usage-view gate remove NUMBER lifts one."
            case .pause: "Paused by your rule (\(verdict.rule.escapedText)); an interruption ends the pause."
            }
        return summary + ". " + effect
    }

    /// For the model.
    package func modelMessage(now: Date) -> String {
        guard let verdict, let summary = summary(now: now) else { return "" }
        let advice =
            switch verdict.rule.action {
            case .tell, .ask: "Do the most important work first, and leave it in a state that can be resumed."
            case .stop, .pause: "Do not retry: the user has asked to stop here."
            }
        return "Usage limit of this account: \(summary). \(advice)"
    }

    /// Why the call is allowed.
    package func explanation(of reason: GateVerdict.Reason) -> String {
        if reason == .damaged { return "allowed: " + (issue ?? "something is damaged") }
        return "allowed: " + reason.text
    }
}

extension GateVerdict {
    /// "Claude dev@example.test Weekly". Unescaped.
    package var subject: String {
        [account?.name, account?.account, window?.label].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// "Claude Weekly". Unescaped.
    package var limit: String { [account?.name, window?.label].compactMap { $0 }.joined(separator: " ") }

    /// See `GateDecision.summary`; nil without a window.
    package func summary(now: Date) -> String? {
        guard let account, let window, let observedAt else { return nil }
        let name = VisibleText.escape(subject)
        let age = DurationFormatter.age(of: observedAt, at: now)
        let source = [account.machine.map(VisibleText.escape), age].compactMap { $0 }.joined(separator: ", ")
        let reset = window.resetsAt.map { date in
            date > now
                ? ", resets in " + DurationFormatter.countdown(to: date, from: now)
                : ", reset " + DurationFormatter.age(of: date, at: now)
        }
        return "\(name): \(AmountFormatter.percent(window.used)) used (\(source))" + (reset ?? "")
    }
}

extension GateVerdict.Reason {
    package var text: String {
        switch self {
        case .damaged: "something is damaged"
        case .absent: "no numbers of this tool"
        case .stale: "the numbers are old"
        case .clockAhead: "the numbers are from the future: a clock is wrong"
        case .contradicted: "the numbers contradict each other"
        case .estimate: "the numbers are an estimate"
        case .expired: "the limit was reset since it was last read"
        case .unknownModel: "the model in use is not known"
        case .below: "below the threshold"
        case .otherModel: "a limit of another model"
        case .otherDirectory: "for another directory"
        case .otherAccount: "for another account"
        case .noWindow: "no window matches"
        case .noRule: "no rule is about this tool"
        }
    }
}

extension GateRule {
    fileprivate var escapedText: String { VisibleText.escape(text) }
}
