package import Essentials

/// The state of one session of an agent on this machine.
package struct GateSession: Sendable, Equatable, Codable {
    /// The last decision that did not just allow.
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

        /// Nil if nothing waits, or what waited has ended.
        package func waiting(now: Date, isRunning: (Int32) -> Bool) -> Waiting? {
            waiting.flatMap { $0.until > now && isRunning($0.process) ? $0 : nil }
        }
    }

    /// The paused call of a session.
    package struct Waiting: Sendable, Equatable, Codable {
        /// "Claude Weekly". Unescaped.
        package var limit: String
        package var account: String?
        /// The reset, or the end of the rule's limit if that is earlier.
        package var until: Date
        /// The id of the hook's process, which may have been killed.
        package var process: Int32

        package init(limit: String, account: String? = nil, until: Date, process: Int32) {
            self.limit = limit
            self.account = account
            self.until = until
            self.process = process
        }
    }

    /// As the tool stated at the start of the session, or to its status line since.
    package var model: String?
    package var last: Note?
    /// Notifications that were delivered, by rule and window, until the window's reset.
    private var notified: [String: Date] = [:]

    private static let notifiedLimit = 64
    /// The period of a window that states no reset.
    private static let period: TimeInterval = 86_400

    package init() {}

    /// Whether the model has not been notified in this period of the window; marks it as notified.
    package mutating func shouldNotify(of verdict: GateVerdict, now: Date) -> Bool {
        notified = notified.filter { $0.value > now }
        let subject = [verdict.account?.provider, verdict.account?.account, verdict.window?.label, verdict.rule.text]
        let mark = subject.map { $0 ?? "" }.joined(separator: "\t")
        if notified[mark] != nil { return false }
        if notified.count >= Self.notifiedLimit { notified = [:] }
        notified[mark] = verdict.window?.resetsAt ?? now.addingTimeInterval(Self.period)
        return true
    }

    private static let byteLimit = 65_536

    /// A new one for what is damaged: the model is then notified once more.
    package init(reading data: Data?) {
        self =
            data.flatMap { StoredJSON.decode(GateSession.self, from: $0, byteLimit: Self.byteLimit) } ?? GateSession()
    }

    package var data: Data { StoredJSON.data(of: self) }
}

/// A paused call: waits until the window is reset, the rule or the reading has changed, or the rule's limit is over.
package struct GateWait: Sendable, Equatable {
    package enum Progress: Sendable, Equatable {
        /// Decide again at that time.
        case waiting(next: Date)
        case released
        case timedOut
    }

    package let until: Date
    private let delay: TimeInterval
    private var releasableSince: Date?

    /// Seconds over which paused calls resume, so that they do not use a new window up in a burst.
    package static let releasePeriod: TimeInterval = 58
    /// Seconds between two decisions.
    package static let interval: TimeInterval = 2

    /// - Parameter session: always gets the same delay.
    package init(_ rule: GateRule, session: String, now: Date) {
        until = now.addingTimeInterval(rule.waitLimit)
        delay = Self.delay(of: session)
    }

    /// Between 0 and `releasePeriod`.
    static func delay(of session: String) -> TimeInterval {
        let hash = FNV1a.hash(session.utf8)
        return Double((hash ^ hash >> 32) % 1_000) / 1_000 * releasePeriod
    }

    /// - Parameter decision: that of now.
    package mutating func progress(_ decision: GateDecision, now: Date) -> Progress {
        guard now < until else { return .timedOut }
        guard decision.action ?? .tell < .pause else {
            releasableSince = nil
            return .waiting(next: min(now.addingTimeInterval(Self.interval), until))
        }
        let release = (releasableSince ?? now).addingTimeInterval(delay)
        releasableSince = releasableSince ?? now
        return now >= release ? .released : .waiting(next: min(release, until))
    }
}
