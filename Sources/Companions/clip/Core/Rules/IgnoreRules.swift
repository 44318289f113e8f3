/// Regular expressions of the user; a copy whose text has a match is not kept.
struct IgnoreRules {
    static let ruleLimit = 64

    /// By the index in the setting.
    private let rules: [(index: Int, expression: GuardedExpression)]
    /// The rules that are skipped, each with the reason; the others work.
    let invalid: [(index: Int, error: InvalidPattern)]

    /// Whether this machine lacks what the rules need.
    private var cannotBeChecked: Bool { invalid.contains { $0.error.lacksLibrary } }

    init(_ patterns: [String], library: ExpressionLibrary? = .installed) {
        var rules: [(index: Int, expression: GuardedExpression)] = []
        var invalid: [(index: Int, error: InvalidPattern)] = []
        for (index, pattern) in patterns.enumerated() {
            do throws(InvalidPattern) {
                guard index < Self.ruleLimit else {
                    throw InvalidPattern(
                        pattern: pattern.shortened(to: 40),
                        reason: "more than \(Self.ruleLimit) rules")
                }
                rules.append((index, try GuardedExpression(pattern, library: library)))
            } catch {
                invalid.append((index, error))
            }
        }
        (self.rules, self.invalid) = (rules, invalid)
    }

    /// The first rule that matches any of the texts, or cannot be evaluated in time or here: what is not known to be no
    /// secret is taken for one.
    func firstMatch(in texts: [String], _ timer: MatchTimer) -> SkipReason? {
        for rule in rules {
            let deadline = timer.deadline()
            for text in texts {
                switch rule.expression.firstMatch(in: text, deadline) {
                case .none: continue
                case .match: return .rule(rule.index, timedOut: false)
                case .undecided: return .rule(rule.index, timedOut: true)
                }
            }
        }
        return cannotBeChecked ? .rulesNotChecked : nil
    }
}
