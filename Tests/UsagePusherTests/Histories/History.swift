import Foundation
import StoreTestSupport
import Testing

@testable import UsagePusher

/// Writes invented histories as a tool would. What the files do not decide is left out, each time with a comment.
protocol HistoryWriter: Sendable, CustomTestStringConvertible {
    var log: any TokenLog { get }
    /// Adds requests to the truth, and the steps in which the tool wrote them.
    func write(_ history: inout History)
}

extension HistoryWriter {
    var testDescription: String { log.source }
}

/// An invented history: what is true, and what a tool has written of it.
struct History {
    enum Step {
        /// A file below the home grows, or begins.
        case append(String, Data)
        case replace(String, Data)
        case move(String, to: String)
        case remove(String)
        /// A transaction in a database, which stays open.
        case execute(String, sql: String)
    }

    var random: SeededGenerator
    var truth = TrueHistory()
    private(set) var steps: [Step] = []
    /// The time of the last event, in milliseconds since 1970: no two have the same.
    private(set) var now: Int64
    private var number = 0

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        // Some day of November 2026, often close to midnight.
        now = 1_793_491_200_000 + 86_400_000 * Int64(random.below(20)) - Int64(random.below(7_200_000))
    }

    mutating func add(_ step: Step) { steps.append(step) }

    mutating func append(_ text: String, to path: String) { add(.append(path, Data(text.utf8))) }

    mutating func replace(_ path: String, _ text: some StringProtocol) { add(.replace(path, Data(text.utf8))) }

    mutating func execute(_ sql: String, in path: String) { add(.execute(path, sql: sql)) }

    /// What a request has used.
    mutating func use(
        _ counts: TokenCounts, at time: Int64, in session: String, _ project: String?, _ model: String?,
        dollars: Double? = nil, tier: ServiceTier = .standard, isRegional: Bool = false, isCoarse: Bool = false
    ) {
        truth.requests.append(
            TrueHistory.Request(
                time: time, session: session, project: project, model: model, counts: counts, tier: tier,
                isRegional: isRegional, ownCost: dollars, isCoarse: isCoarse))
    }

    mutating func below(_ limit: Int) -> Int { random.below(limit) }
    mutating func chance(_ count: Int) -> Bool { random.chance(count) }
    mutating func pick<Value>(_ values: [Value]) -> Value { random.pick(values) }

    /// From one to so many sessions, about half of which may continue one of those before.
    mutating func sessions<Session>(
        _ most: Int = 4, _ make: (_ index: Int, _ origin: Session?, inout History) -> Session
    ) -> [Session] {
        var sessions: [Session] = []
        for index in 0..<1 + below(most) {
            let origin = chance(2) ? sessions.randomElement(using: &random) : nil
            sessions.append(make(index, origin, &self))
        }
        return sessions
    }

    /// The time of the next event: mostly soon, sometimes the next day.
    ///
    /// - Parameter limit: milliseconds that it comes after the last one at most.
    mutating func tick(within limit: Int = 86_400_000) -> Int64 {
        let most = random.pick([50, 5_000, 5_000, 60_000, 3_600_000, 86_400_000])
        now += 1 + Int64(random.below(min(most, limit)))
        return now
    }

    /// A number that no other call returns, in a history.
    mutating func unique() -> Int {
        number += 1
        return number
    }

    /// Mostly unknown, which is 0; in 1/10,000 US dollars.
    mutating func cost() -> Int { chance(2) ? 1 + below(9_999) : 0 }

    /// Counts of a request whose prompt no other one has, unless it is given. Some are 0.
    mutating func counts(hasWrites: Bool = true, hasReasoning: Bool = true, hasSearches: Bool = false) -> TokenCounts {
        func some(_ most: Int, _ random: inout SeededGenerator) -> Int {
            random.chance(3) ? 0 : 1 + random.below(most)
        }
        var counts = TokenCounts()
        counts.output = 1 + random.below(random.pick([4, 900, 30_000]))
        if hasReasoning, random.chance(3) { counts.reasoning = random.below(counts.output + 1) }
        counts.cacheRead = some(200_000, &random)
        if hasWrites { counts.cacheWrite5m = some(20_000, &random) }
        if hasSearches, random.chance(6) { counts.webSearches = 1 + random.below(3) }
        counts.input = 1 + random.below(random.pick([10, 3_000, 300_000]))
        // The whole prompt's last digits are the number.
        counts.input += (unique() - counts.prompt % 1_000 + 1_000) % 1_000
        return counts
    }
}

extension SeededGenerator {
    mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }
    /// Once in so many times.
    mutating func chance(_ count: Int) -> Bool { below(count) == 0 }
    mutating func pick<Value>(_ values: [Value]) -> Value { values[below(values.count)] }
}

/// A cost in 1/10,000 US dollars as dollars; nil where the tool does not know it.
func dollars(_ cost: Int) -> Double? { cost > 0 ? Double(cost) / 10_000 : nil }

/// What is JSON.
protocol Writable {
    var json: String { get }
}

extension String: Writable {
    var json: String { "\"\(self)\"" }
}

extension FixedWidthInteger where Self: Writable {
    var json: String { "\(self)" }
}

extension Int: Writable {}
extension Int64: Writable {}

extension Double: Writable {
    var json: String { "\(self)" }
}

extension Bool: Writable {
    var json: String { "\(self)" }
}

/// JSON as tools write it.
struct JSON: Writable {
    static let null = JSON(json: "null")
    let json: String

    static func + (first: JSON, second: JSON) -> JSON {
        let members = [first, second].map { $0.json.dropFirst().dropLast() }.filter { !$0.isEmpty }
        return JSON(json: "{" + members.joined(separator: ",") + "}")
    }

    static func list(_ values: [JSON]) -> JSON { JSON(json: "[" + values.map(\.json).joined(separator: ",") + "]") }
}

/// Members in the order in which they are given, without those that are nil.
func object(_ members: KeyValuePairs<String, (any Writable)?>) -> JSON { object(Array(members)) }

func object(_ members: [(key: String, value: (any Writable)?)]) -> JSON {
    let texts = members.compactMap { name, value in value.map { "\"\(name)\":\($0.json)" } }
    return JSON(json: "{" + texts.joined(separator: ",") + "}")
}

/// A time as "2026-11-20T09:00:05.123Z".
func iso(_ milliseconds: Int64) -> String {
    Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
        .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
}
