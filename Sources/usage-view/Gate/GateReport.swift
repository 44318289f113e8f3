import Essentials
import TerminalText
import UsageState

/// What `usage-view gate status` prints.
struct GateReport: Encodable {
    private struct Rule: Encodable {
        var number: Int?
        var text: String
        /// What it says of each window now, with the reason.
        var says: [String]
    }

    private struct Session: Encodable {
        var tool: String
        var action: String
        var sentence: String
        var secondsAgo: Int
        var isWaiting: Bool
    }

    private let issue: String?
    private let rules: [Rule]
    private let sessions: [Session]

    private static let sessionLimit = 10

    /// - Parameter own: the rules of this machine, which can be removed by number.
    init(_ usage: GateUsage, own: GateRules, sessions: [String: GateSession], now: Date) {
        issue = [own.issue, usage.rules.issue, usage.issue].compactMap { $0 }.first
        let numbered = own.rules.enumerated().map { (number: Int?($0 + 1), rule: $1) }
        rules = (numbered + usage.rules.rules.map { (nil, $0) }).map { number, rule in
            Rule(
                number: number, text: rule.text,
                says: Self.sentences(rule, usage, staleAfter: own.joined(with: usage.rules).staleAfter, now: now))
        }
        let notes = sessions.values.compactMap(\.last).sorted { $0.at > $1.at }
        self.sessions = notes.prefix(Self.sessionLimit).map { note in
            let isWaiting = note.waiting.map { $0.until > now && kill($0.process, 0) == 0 } ?? false
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
        return Set(usage.accounts.map(\.provider)).sorted().flatMap { provider in
            GateDecision(
                bare, own: rules, GateRequest(provider: provider, directory: rule.directory, madeAt: now), now: now
            ).verdicts
        }.compactMap { verdict in
            guard let fact = verdict.fact(now: now) else { return nil }
            return switch verdict.outcome {
            case .applies: fact + ": " + rule.action.rawValue
            case .allows(let reason): fact + ": allowed, " + reason.text
            }
        }
    }

    /// Escaped.
    var lines: [String] {
        var lines = issue.map { [VisibleText.escape($0)] } ?? []
        if rules.isEmpty { lines.append("No rules; to set one: usage-view gate set --at 95 --then stop") }
        for rule in rules {
            lines.append((rule.number.map { "\($0)  " } ?? "-  ") + VisibleText.escape(rule.text))
            lines += rule.says.map { "   " + $0 }
        }
        for session in sessions {
            let state = session.isWaiting ? "waiting" : session.action
            lines.append(
                "\(VisibleText.escape(session.tool)) \(state), \(session.secondsAgo / 60) min ago: "
                    + VisibleText.escape(session.sentence))
        }
        return lines
    }
}
