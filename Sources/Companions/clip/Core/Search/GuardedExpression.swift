import CShims
import Synchronization

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

/// A regular expression as PCRE2 has compiled it, with Unicode classes, and lines that end as Unicode says.
final class CompiledExpression: Sendable {
    enum Outcome: Equatable {
        case none
        /// In bytes of UTF-8.
        case match(Range<Int>)
        /// Stopped, or the match needs too much memory or too many steps.
        case undecided
    }

    /// Constants of pcre2.h.
    private enum Option {
        /// PCRE2_UTF, PCRE2_UCP, PCRE2_AUTO_CALLOUT: which calls back before each part of the expression;
        /// PCRE2_NEVER_BACKSLASH_C: no single bytes.
        static let compile: UInt32 = 0x0008_0000 | 0x0002_0000 | 0x0000_0004 | 0x0010_0000
        /// PCRE2_NO_UTF_CHECK: strings are UTF-8.
        static let match: UInt32 = 0x4000_0000
        /// PCRE2_NEWLINE_ANY
        static let anyNewline: UInt32 = 4
        /// PCRE2_ERROR_NOMATCH
        static let noMatch: CInt = -1
        /// PCRE2_ERROR_CALLOUT
        static let stopped: CInt = -37
    }

    /// What the library has allocated. Unchecked because one thread at a time has it, behind the lock.
    private struct Handles: @unchecked Sendable {
        let code: UnsafeMutableRawPointer
        let context: UnsafeMutableRawPointer
        let match: UnsafeMutableRawPointer
    }

    private static let heapKibibytes: UInt32 = 8_192
    private let library: ExpressionLibrary
    private let handles: Mutex<Handles>

    /// Throws why the pattern is no expression.
    init(_ pattern: String, _ library: ExpressionLibrary) throws(InvalidPattern) {
        let call = library.call
        self.library = library
        var (error, offset) = (CInt(0), 0)
        let settings = call.compile_context_create(nil)
        defer { call.compile_context_free(settings) }
        if let settings { _ = call.set_newline(settings, Option.anyNewline) }
        let bytes = Array(pattern.utf8)
        // An empty array has no address.
        let code = (bytes + [0]).withUnsafeBufferPointer {
            call.compile($0.baseAddress!, bytes.count, Option.compile, &error, &offset, settings)
        }
        guard let code else { throw InvalidPattern(pattern: pattern, reason: library.message(of: error)) }
        let (context, match) = (call.match_context_create(nil), call.match_data_create(1, nil))
        guard let context, let match else {
            call.match_data_free(match)
            call.match_context_free(context)
            call.code_free(code)
            throw InvalidPattern(pattern: pattern, reason: "there is no memory for it")
        }
        _ = call.set_heap_limit(context, Self.heapKibibytes)
        handles = Mutex(Handles(code: code, context: context, match: match))
    }

    deinit {
        handles.withLock { handles in
            library.call.match_data_free(handles.match)
            library.call.match_context_free(handles.context)
            library.call.code_free(handles.code)
        }
    }

    /// Asks again and again, before each step, whether to stop.
    func firstMatch(in text: String, isOver: () -> Bool) -> Outcome {
        var text = text
        return text.withUTF8 { utf8 in
            withoutActuallyEscaping(isOver) { isOver in
                var question = isOver
                return withUnsafeMutablePointer(to: &question) { question in
                    handles.withLock { match(utf8, $0, question) }
                }
            }
        }
    }

    private func match(
        _ text: UnsafeBufferPointer<UInt8>, _ handles: Handles, _ question: UnsafeMutablePointer<() -> Bool>
    ) -> Outcome {
        let call = library.call
        _ = call.set_callout(
            handles.context,
            { _, question in
                let isOver = question!.assumingMemoryBound(to: (() -> Bool).self)
                return isOver.pointee() ? Option.stopped : 0
            }, question)
        // An empty text may have no address.
        let empty: [UInt8] = [0]
        let result = empty.withUnsafeBufferPointer {
            call.match(
                handles.code, text.baseAddress ?? $0.baseAddress!, text.count, 0, Option.match, handles.match,
                handles.context)
        }
        guard result >= 0 else { return result == Option.noMatch ? .none : .undecided }
        let offsets = call.get_ovector_pointer(handles.match)
        // \K behind its end begins a match there.
        return .match(min(offsets[0], offsets[1])..<offsets[1])
    }
}
