package import Essentials
import TerminalText

/// A decision in words, the same in the hook, in `gate status` and in the log. Escaped.
extension GateDecision {
    /// "Claude weekly: 96 % used (box, 3 min ago), resets in 2d 3h"; nil where no window decides.
    package func fact(now: Date) -> String? { verdict?.fact(now: now) }

    /// For the person whose turn ends, or waits.
    package func sentenceForPerson(now: Date) -> String {
        guard let verdict, let fact = fact(now: now) else { return sentence(of: reason ?? .noRule) }
        let effect =
            switch verdict.rule.action {
            case .tell, .ask: "You asked to be told (\(verdict.rule.escapedText))."
            case .stop: "Stopped by your rule (\(verdict.rule.escapedText)); usage-view gate remove takes it back."
            case .pause: "Waiting by your rule (\(verdict.rule.escapedText)); an interruption ends it."
            }
        return fact + ". " + effect
    }

    /// For the model.
    package func sentenceForModel(now: Date) -> String {
        guard let verdict, let fact = fact(now: now) else { return "" }
        let advice =
            switch verdict.rule.action {
            case .tell, .ask: "Prefer what is most important, and leave work in a state that can be continued."
            case .stop, .pause: "Do not try again: the person has asked to stop here."
            }
        return "Usage limit of this account: \(fact). \(advice)"
    }

    /// Why the call is allowed.
    package func sentence(of reason: GateVerdict.Reason) -> String {
        if reason == .damaged { return "allowed: " + (detailText ?? "something is damaged") }
        return "allowed: " + reason.text
    }
}

extension GateVerdict {
    /// "Claude dev@example.test Weekly". Unescaped.
    package var subject: String {
        [account?.name, account?.account, window?.label].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// See `GateDecision.fact`; nil without a window.
    package func fact(now: Date) -> String? {
        guard let account, let window else { return nil }
        let name = VisibleText.escape(subject)
        let age = DurationFormatter.age(of: account.observedAt, at: now)
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
