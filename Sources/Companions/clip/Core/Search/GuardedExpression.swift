import Essentials

/// How long a regular expression may take, by a clock that the caller has.
struct MatchTimer: Sendable {
    static let limit: Duration = .milliseconds(50)
    private let now: @Sendable () -> Duration

    /// - Parameter now: a time that never goes back.
    init(now: @escaping @Sendable () -> Duration) { self.now = now }

    init<C: Clock & Sendable>(_ clock: C) where C.Duration == Duration {
        let start = clock.now
        self.init { start.duration(to: clock.now) }
    }

    struct Deadline {
        fileprivate let end: Duration
        fileprivate let now: () -> Duration

        var hasPassed: Bool { now() >= end }
    }

    func deadline() -> Deadline { Deadline(end: now() + Self.limit, now: now) }
}

/// A text that is no regular expression, or cannot be used as one here.
struct InvalidPattern: Error, Hashable, Sendable {
    let pattern: String
    let reason: String
    /// Whether another machine could use it: this one lacks the library.
    var lacksLibrary = false
}

/// A regular expression that stops at a deadline.
///
/// A search that backtracks can take longer than anyone waits: `(a+)+$` on 30 characters takes seconds.
struct GuardedExpression {
    static let lengthLimit = 1_000
    private static let stepsPerReading = 64

    private let literal: RequiredLiteral
    /// Nil if the literal is all there is to it.
    private let expression: CompiledExpression?

    init(_ pattern: String, library: ExpressionLibrary? = .installed) throws(InvalidPattern) {
        guard pattern.utf8.count <= Self.lengthLimit else {
            throw InvalidPattern(pattern: pattern.shortened(to: 40), reason: "longer than \(Self.lengthLimit) bytes")
        }
        literal = RequiredLiteral(of: pattern)
        guard !literal.isWholePattern else {
            expression = nil
            return
        }
        guard let library else {
            throw InvalidPattern(
                pattern: pattern,
                reason: "regular expressions need PCRE2; install \(ExpressionLibrary.packageName)", lacksLibrary: true)
        }
        expression = try CompiledExpression(ExpressionPattern(pattern).text, library)
    }

    func firstMatch(in text: String, _ deadline: MatchTimer.Deadline) -> CompiledExpression.Outcome {
        if !literal.bytes.isEmpty {
            guard let found = literal.firstRange(in: text) else { return .none }
            if literal.isWholePattern { return .match(found) }
        }
        guard let expression else { return .none }
        var steps = 0
        return expression.firstMatch(in: text) {
            steps += 1
            return steps.isMultiple(of: Self.stepsPerReading) && deadline.hasPassed
        }
    }
}
