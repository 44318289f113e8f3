import Foundation

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

/// A text that is no regular expression.
struct InvalidPattern: Error, Hashable, Sendable {
    let pattern: String
    let reason: String
}

/// A regular expression of ICU that stops at a deadline.
///
/// A search that backtracks can take longer than anyone waits: `(a+)+$` on 30 characters takes seconds.
struct GuardedExpression {
    static let lengthLimit = 1_000

    enum Outcome: Equatable {
        case none
        case match(NSRange)
        /// The deadline has passed, or the match needs too much memory.
        case undecided
    }

    private let expression: NSRegularExpression
    private let literal: RequiredLiteral
    /// Progress is reported for each character; the clock is read for some of them.
    private static let reportsPerReading = 16

    init(_ pattern: String) throws(InvalidPattern) {
        guard pattern.utf8.count <= Self.lengthLimit else {
            throw InvalidPattern(pattern: pattern.shortened(to: 40), reason: "longer than \(Self.lengthLimit) bytes")
        }
        literal = RequiredLiteral(of: pattern)
        do {
            expression = try NSRegularExpression(pattern: pattern)
        } catch {
            throw InvalidPattern(pattern: pattern, reason: "not a regular expression")
        }
    }

    func firstMatch(in text: String, _ deadline: MatchTimer.Deadline) -> Outcome {
        if !literal.bytes.isEmpty {
            guard let found = literal.firstRange(in: text) else { return .none }
            if literal.isWholePattern { return .match(NSRange(location: found.start, length: found.length)) }
        }
        var outcome = Outcome.none
        var reports = 0
        // An expression that runs out of memory is reported only with the completion.
        expression.enumerateMatches(
            in: text, options: [.reportProgress, .reportCompletion],
            range: NSRange(location: 0, length: text.utf16.count)
        ) { result, flags, stop in
            if let result {
                outcome = .match(result.range)
                stop.pointee = true
                return
            }
            reports += 1
            let isTimeToLook = reports % Self.reportsPerReading == 0
            if flags.contains(.internalError) || isTimeToLook && deadline.hasPassed {
                outcome = .undecided
                stop.pointee = true
            }
        }
        return outcome
    }
}
