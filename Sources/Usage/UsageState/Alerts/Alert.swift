package import Essentials

/// Something that a user should hear of. Strings are unescaped.
package struct Alert: Sendable, Equatable, Codable {
    package enum Kind: String, Sendable, Codable {
        case threshold
        /// 100 % used.
        case reached
        /// The limit is available again after it had been near.
        case reset
        /// At the pace so far, before the reset.
        case runsOut
        /// A device no longer pushes.
        case silent
        /// Agents of a machine are paused by a rule of the gate.
        case paused
        /// The daemon no longer knows this machine.
        case removed
        /// What happened during quiet hours.
        case summary
        case test
    }

    /// The window of an account.
    package struct Subject: Sendable, Equatable, Codable {
        package var providerID: String
        package var providerName: String
        package var account: String?
        package var window: String
        package var windowMinutes: Int?
    }

    package var kind: Kind
    /// When it was noticed.
    package var at: Date
    package var mark: AlertMark
    package var subject: Subject?
    package var usedPercent: Double?
    /// The highest one that was passed.
    package var threshold: Double?
    package var resetsAt: Date?
    package var runsOutAt: Date?
    /// When the percentage was observed.
    package var observedAt: Date?
    /// Agents that a rule of the gate has paused at one limit.
    package struct Pause: Sendable, Equatable, Codable {
        /// "claude"; nil for several tools.
        package var tool: String?
        package var count: Int
        /// "Claude Weekly".
        package var limit: String
        package var account: String?
        package var until: Date
    }

    /// The name of a device that is silent or where agents are paused.
    package var device: String?
    package var pause: Pause?
    /// For a silent device.
    package var lastPush: Date?
    /// What a summary sums up, oldest first.
    package var events: [Alert]?

    package init(kind: Kind, at: Date, mark: AlertMark) {
        self.kind = kind
        self.at = at
        self.mark = mark
    }

    /// For trying a target.
    package static func test(at now: Date) -> Alert {
        Alert(kind: .test, at: now, mark: AlertMark(key: "test", instance: now.timeIntervalSince1970.wholeSeconds))
    }

    /// A summary of what was held, oldest first.
    static func summary(of events: [Alert], at now: Date) -> Alert {
        var summary = Alert(
            kind: .summary, at: now, mark: AlertMark(key: "summary", instance: now.timeIntervalSince1970.wholeSeconds))
        summary.events = events
        return summary
    }
}

/// What an alert is about, as several machines recognize it without exchanging more.
package struct AlertMark: Sendable, Equatable, Codable {
    /// A hash of account, window and kind of rule, or of a device.
    package var key: String
    /// Which window of that name: when it is reset, in seconds since 1970; 0 if nobody knows. The last push of a silent
    /// device.
    package var instance: Int
    /// The percentage that was passed; 0 for other rules. An alert about a higher one stands for a lower one.
    package var level = 0
    /// When the numbers behind it were observed, in seconds since 1970, by the clock of the machine that did; 0 for
    /// other rules.
    package var observed = 0
    /// Use had last fallen below the level at this time, by the same clock. What was delivered about earlier numbers
    /// does not stand for this.
    package var clearedAt = 0
    /// Seconds by which reports of one instance may differ.
    package var tolerance = 0

    private enum CodingKeys: String, CodingKey {
        case key = "k"
        case instance = "i"
        case level = "l"
        case observed = "o"
        case clearedAt = "c"
        case tolerance = "t"
    }

    /// Whether a delivery of this makes one of `other` superfluous.
    package func covers(_ other: AlertMark) -> Bool {
        key == other.key && level >= other.level
            && instance.distance(from: other.instance) <= max(0, other.tolerance)
            && (other.observed == 0 || observed > other.clearedAt || other.clearedAt == 0)
    }

    /// The form for other programs; different for different alerts.
    package var text: String { "\(key)-\(instance)-\(level)-\(clearedAt)" }

    /// 64 bits of the parts as hexadecimal digits, the same on every machine (FNV-1a).
    package static func hash(_ parts: String...) -> String {
        var hash = FNV1a()
        for part in parts {
            hash.add(part.utf8)
            // No byte of UTF-8, so that parts cannot run into each other.
            hash.add([0xFF])
        }
        return hash.value.hexadecimal(digits: 16)
    }
}

extension Int {
    fileprivate func distance(from other: Int) -> Int {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow || difference == .min ? .max : abs(difference)
    }
}
