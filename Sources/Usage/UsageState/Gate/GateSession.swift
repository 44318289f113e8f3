package import Essentials

/// What is remembered of one session of an agent on this machine.
package struct GateSession: Sendable, Equatable, Codable {
    /// The last time that the gate did something.
    package struct Note: Sendable, Equatable, Codable {
        package var at: Date
        package var tool: String
        package var action: GateRule.Action
        package var sentence: String
        /// Nil unless a call waits.
        package var waiting: Waiting?

        package init(at: Date, tool: String, action: GateRule.Action, sentence: String, waiting: Waiting? = nil) {
            self.at = at
            self.tool = tool
            self.action = action
            self.sentence = sentence
            self.waiting = waiting
        }
    }

    package struct Waiting: Sendable, Equatable, Codable {
        /// "Claude Weekly". Unescaped.
        package var limit: String
        /// The reset, or as long as it waits at most.
        package var until: Date
        /// That of the hook, which somebody may have ended.
        package var process: Int32

        package init(limit: String, until: Date, process: Int32) {
            self.limit = limit
            self.until = until
            self.process = process
        }
    }

    /// As the tool said when the session began.
    package var model: String?
    package var last: Note?
    /// What the model was told, and until when that is so.
    private var told: [String: Date] = [:]

    private static let toldLimit = 64
    /// The period of a window that states no reset.
    private static let period: TimeInterval = 86_400

    package init() {}

    /// Whether the model has not been told this yet in this period of the window; from then on it has.
    package mutating func tells(_ verdict: GateVerdict, now: Date) -> Bool {
        told = told.filter { $0.value > now }
        let subject = [verdict.account?.provider, verdict.account?.account, verdict.window?.label, verdict.rule.text]
        let mark = subject.map { $0 ?? "" }.joined(separator: "\t")
        if told[mark] != nil { return false }
        if told.count >= Self.toldLimit { told = [:] }
        told[mark] = verdict.window?.resetsAt ?? now.addingTimeInterval(Self.period)
        return true
    }

    /// Nothing for what is damaged: it is then told once more.
    package init(reading data: Data?) {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        self = data.flatMap { try? decoder.decode(GateSession.self, from: $0) } ?? GateSession()  // As described.
    }

    package var data: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .secondsSince1970
        return encoder.data(of: self)
    }
}

/// A call that waits, until the window is reset, the rule or the numbers have changed, or it has waited long enough.
package struct GateWait: Sendable, Equatable {
    package enum Progress: Sendable, Equatable {
        /// Look again at that time.
        case waiting(next: Date)
        case open
        /// It has waited as long as the rule says.
        case outOfPatience
    }

    package let until: Date
    private let share: TimeInterval
    private var openSince: Date?

    /// Seconds over which those that wait go on, so that they do not use a new window up in a burst.
    package static let spread: TimeInterval = 58
    /// Seconds between two looks.
    package static let interval: TimeInterval = 2

    /// - Parameter session: its share of the spread is always the same.
    package init(_ rule: GateRule, session: String, now: Date) {
        until = now.addingTimeInterval(rule.patience)
        share = Self.share(of: session)
    }

    /// Between 0 and `spread`.
    static func share(of session: String) -> TimeInterval {
        // FNV-1a: the same on every machine and in every process.
        let hash = session.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return Double((hash ^ hash >> 32) % 1_000) / 1_000 * spread
    }

    /// - Parameter decision: that of now.
    package mutating func progress(_ decision: GateDecision, now: Date) -> Progress {
        guard now < until else { return .outOfPatience }
        guard decision.action ?? .tell < .pause else {
            openSince = nil
            return .waiting(next: min(now.addingTimeInterval(Self.interval), until))
        }
        let release = (openSince ?? now).addingTimeInterval(share)
        openSince = openSince ?? now
        return now >= release ? .open : .waiting(next: min(release, until))
    }
}
