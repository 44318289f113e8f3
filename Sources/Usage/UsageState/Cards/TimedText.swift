package import Essentials
import TerminalText

/// Text in which times stand as times, so that it can be shown later, and by another program, than it was written.
///
///     let text: TimedText = "Stale: last observed \(ago: date)."
///
/// Encoded as an array of strings and of objects with one member, a time in milliseconds since 1970:
/// `ago`, `reset`, `at`, `runsOut`, or `runsOutAt` with a second one, `basis`.
package struct TimedText: Sendable, Equatable, ExpressibleByStringInterpolation {
    enum Part: Sendable, Equatable {
        case text(String)
        /// "12 min ago"
        case ago(Date)
        /// "resets in 1h 30m", "reset 10 min ago"
        case reset(Date)
        /// "13:45", "Mon 13:45"
        case at(Date)
        /// "runs out in 50m"
        case runsOut(Date)
        /// "runs out Thu 24 Sep 15:00 by your last 4 weeks"
        case runsOutAt(Date, basis: String)
    }

    private(set) var parts: [Part]

    package init(stringLiteral value: String) { parts = value.isEmpty ? [] : [.text(value)] }
    package init(_ text: String) { self.init(stringLiteral: text) }
    package init(stringInterpolation: StringInterpolation) { parts = stringInterpolation.parts }

    package static func reset(_ date: Date) -> TimedText { "\(reset: date)" }

    package var isEmpty: Bool { parts.isEmpty }

    package static func + (left: TimedText, right: TimedText) -> TimedText {
        var sum = left
        sum.parts += right.parts
        return sum
    }

    /// Joined by " · ", without the empty ones.
    package static func joined(_ texts: TimedText...) -> TimedText {
        let texts = texts.filter { !$0.isEmpty }
        return texts.dropFirst().reduce(texts.first ?? "") { $0 + " · " + $1 }
    }

    package func text(_ times: TimeFormatter) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .ago(let date): times.past(date)
            case .reset(let date): times.reset(date)
            case .at(let date): times.brief(date)
            case .runsOut(let date): times.runsOut(date)
            case .runsOutAt(let date, let basis): times.runsOut(date, basis: basis)
            }
        }.joined()
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var parts: [Part] = []

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ literal: String) { if !literal.isEmpty { parts.append(.text(literal)) } }
        package mutating func appendInterpolation(_ text: String) { appendLiteral(text) }
        package mutating func appendInterpolation(_ text: TimedText) { parts += text.parts }
        package mutating func appendInterpolation(ago date: Date) { parts.append(.ago(date)) }
        package mutating func appendInterpolation(at date: Date) { parts.append(.at(date)) }
        package mutating func appendInterpolation(reset date: Date) { parts.append(.reset(date)) }
        package mutating func appendInterpolation(runsOut date: Date) { parts.append(.runsOut(date)) }
        package mutating func appendInterpolation(runsOutAt date: Date, basis: String) {
            parts.append(.runsOutAt(date, basis: basis))
        }
    }
}

extension TimedText: Encodable {
    private enum Member: CodingKey { case ago, reset, at, runsOut, runsOutAt, basis }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for part in parts {
            func encode(_ date: Date, _ member: Member, basis: String? = nil) throws {
                var object = container.nestedContainer(keyedBy: Member.self)
                try object.encode(date.milliseconds, forKey: member)
                try object.encodeIfPresent(basis, forKey: .basis)
            }
            switch part {
            case .text(let text): try container.encode(text)
            case .ago(let date): try encode(date, .ago)
            case .reset(let date): try encode(date, .reset)
            case .at(let date): try encode(date, .at)
            case .runsOut(let date): try encode(date, .runsOut)
            case .runsOutAt(let date, let basis):
                try encode(date, .runsOutAt, basis: basis)
            }
        }
    }
}

/// A value that is another from certain times on.
package struct Timed<Value: Sendable & Equatable>: Sendable, Equatable {
    package struct Change: Sendable, Equatable {
        /// Inclusive; nil for ever.
        package let from: Date?
        package let value: Value
    }

    /// By time; never empty, and the first has no time.
    package let changes: [Change]

    /// - Parameter later: by time.
    package init(_ value: Value, _ later: [(from: Date, value: Value)] = []) {
        changes =
            [Change(from: nil, value: value)]
            + later.map { Change(from: $0.from, value: $0.value) }
    }

    private init(changes: [Change]) { self.changes = changes }

    /// What a function of the time says before the first of the dates and from each on.
    package init(changingAt dates: [Date], _ value: (Date) -> Value) {
        let dates = Set(dates).sorted()
        let first = dates.first.map { value($0.addingTimeInterval(-1)) } ?? value(.distantPast)
        changes = dates.reduce(into: [Change(from: nil, value: first)]) { changes, date in
            let next = value(date)
            if next != changes[changes.count - 1].value { changes.append(Change(from: date, value: next)) }
        }
    }

    package func value(at time: Date) -> Value {
        (changes.last { $0.from.map { $0 <= time } ?? true } ?? changes[0]).value
    }

    /// The next time after `now` at which the value is another.
    package func nextChange(after now: Date) -> Date? { changes.lazy.compactMap(\.from).first { $0 > now } }

    package func map<Other>(_ transform: (Value) -> Other) -> Timed<Other> {
        Timed<Other>(changes: changes.map { Timed<Other>.Change(from: $0.from, value: transform($0.value)) })
    }
}

extension Timed: Encodable where Value: Encodable {
    /// An array of `{"from": <ms since 1970>, "value": …}`, the first without `from`.
    package func encode(to encoder: any Encoder) throws { try changes.encode(to: encoder) }
}

extension Timed.Change: Encodable where Value: Encodable {
    private enum CodingKeys: CodingKey { case from, value }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(from?.milliseconds, forKey: .from)
        try container.encode(value, forKey: .value)
    }
}

extension Date {
    /// Since 1970, rounded up, so that a time is never reached early; bounded, because a date from outside may be any
    /// number.
    package var milliseconds: Int { Int(min(max((timeIntervalSince1970 * 1_000).rounded(.up), -9e15), 9e15)) }
}
