import Foundation

/// How long a regular expression may take, by a clock that the caller has.
package struct MatchTimer: Sendable {
    package static let limit: Duration = .milliseconds(50)
    private let now: @Sendable () -> Duration

    /// - Parameter now: a time that never goes back.
    package init(now: @escaping @Sendable () -> Duration) { self.now = now }

    package init<C: Clock & Sendable>(_ clock: C) where C.Duration == Duration {
        let start = clock.now
        self.init { start.duration(to: clock.now) }
    }

    package struct Deadline {
        fileprivate let end: Duration
        fileprivate let now: () -> Duration

        package var hasPassed: Bool { now() >= end }
    }

    package func deadline() -> Deadline { Deadline(end: now() + Self.limit, now: now) }
}

/// A text that is no regular expression.
package struct InvalidPattern: Error, Hashable, Sendable {
    package let pattern: String
    package let reason: String
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

    init(_ pattern: String) throws(InvalidPattern) {
        guard pattern.utf8.count <= Self.lengthLimit else {
            throw InvalidPattern(
                pattern: pattern.shortened(to: 40),
                reason: "longer than \(Self.lengthLimit) bytes")
        }
        do {
            expression = try NSRegularExpression(pattern: pattern)
        } catch {
            throw InvalidPattern(pattern: pattern, reason: "not a regular expression")
        }
    }

    func firstMatch(in text: String, _ deadline: MatchTimer.Deadline) -> Outcome {
        var outcome = Outcome.none
        let all = NSRange(location: 0, length: text.utf16.count)
        expression.enumerateMatches(in: text, options: .reportProgress, range: all) {
            result, flags, stop in
            if let result {
                outcome = .match(result.range)
                stop.pointee = true
            } else if flags.contains(.internalError) || deadline.hasPassed {
                outcome = .undecided
                stop.pointee = true
            }
        }
        return outcome
    }
}
