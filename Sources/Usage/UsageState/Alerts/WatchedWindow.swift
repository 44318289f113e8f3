import Essentials
import SnapshotModels

/// What is remembered of one window of an account, so that an alert is given once.
struct WatchedWindow: Sendable, Equatable, Codable {
    var subject: Alert.Subject
    /// Part of the key of every mark.
    var identity: String
    var resetsAt: Date?
    /// The time of the latest reading.
    var observedAt: Date
    var usedPercent: Double
    /// The most that was used since the last reset, by readings that count.
    var peak: Double
    /// Levels up to this percentage have been passed, and not been left again by the hysteresis.
    var level: Double
    /// When a level was last left, or a window without a reset was first seen.
    var clearedAt: Date?
    var isRunningOut = false
    var paceClearedAt: Date?
    /// Whether the time of the reset has come.
    var hasReset = false

    /// Days without a reading after which a window is forgotten.
    static let keptDays = 40.0
    /// Points by which use must fall below an even pace before it can run ahead again.
    static let paceHysteresis = 2.0
    /// A reset that was noticed later than this is no longer worth an alert, in seconds.
    static let resetAge: TimeInterval = 3_600

    /// One reading.
    struct Reading {
        var subject: Alert.Subject
        var window: SyncRateWindow
        var pace: Pace?
        var observedAt: Date
        /// Whether it may cause alerts; else it only says what was not passed yet.
        var counts: Bool
        /// Ascending.
        var levels: [Double]
    }

    /// The baseline: nothing that is so already is worth an alert.
    init(_ reading: Reading, identity: String) {
        self.identity = identity
        subject = reading.subject
        resetsAt = reading.window.resetsAt
        observedAt = reading.observedAt
        usedPercent = reading.window.usedPercent
        peak = reading.counts ? usedPercent : 0
        level = usedPercent
        // Without a reset nothing else distinguishes this window from one that machines have warned of before.
        clearedAt = resetsAt == nil ? observedAt : nil
        isRunningOut = reading.runsOutEarly
    }

    /// - Returns: the alerts that the reading is worth.
    mutating func apply(_ reading: Reading, rules: AlertRules, now: Date) -> [Alert] {
        // One of two devices may be behind.
        guard reading.observedAt >= observedAt else { return [] }
        observedAt = reading.observedAt
        var alerts: [Alert] = []
        if isOther(reading.window.resetsAt, at: reading.observedAt) {
            // To the next one that counts all of the other window is new.
            guard reading.counts else { return [] }
            if reading.window.usedPercent < peak - AlertRules.hysteresis, let alert = resetAlert(rules, now: now) {
                alerts.append(alert)
            }
            self = WatchedWindow(next: reading, identity: identity)
        }
        subject = reading.subject
        resetsAt = reading.window.resetsAt ?? resetsAt
        usedPercent = reading.window.usedPercent
        leave(reading)
        guard reading.counts else { return alerts }
        peak = max(peak, usedPercent)
        if let alert = levelAlert(reading, now: now) { alerts.append(alert) }
        if let alert = paceAlert(reading, rules, now: now) { alerts.append(alert) }
        return alerts
    }

    /// The alert of a reset whose time has come.
    mutating func pass(_ now: Date, rules: AlertRules) -> Alert? {
        guard !hasReset, let resetsAt, resetsAt <= now else { return nil }
        let alert = resetAlert(rules, now: now)
        hasReset = true
        return now.timeIntervalSince(resetsAt) <= Self.resetAge ? alert : nil
    }

    /// When `pass` has something to say.
    func resetDue(_ rules: AlertRules) -> Date? {
        guard !hasReset, let least = rules.resetFrom, peak >= least else { return nil }
        return resetsAt
    }

    /// A window whose predecessor was known: whatever is used of it is new.
    private init(next reading: Reading, identity: String) {
        self.init(reading, identity: identity)
        (level, isRunningOut) = (0, false)
    }

    /// Seconds by which the reported resets of one window may differ: some tools say how long it takes until then.
    private static func tolerance(minutes: Int?) -> Int { max(120, min(minutes ?? 0, 1_000_000) * 6) }

    /// Whether a reset belongs to another window than this one.
    private func isOther(_ reset: Date?, at time: Date) -> Bool {
        guard let resetsAt else { return false }
        guard let reset else { return resetsAt <= time }
        return abs(reset.timeIntervalSince(resetsAt)) > TimeInterval(Self.tolerance(minutes: subject.windowMinutes))
    }

    /// What use has fallen below can be passed again.
    private mutating func leave(_ reading: Reading) {
        let kept = min(level, (usedPercent + AlertRules.hysteresis).nextDown)
        if kept < level { clearedAt = reading.observedAt }
        level = kept
        guard isRunningOut, let pace = reading.pace, pace.runsOutAt == nil,
            usedPercent <= pace.expectedPercent - Self.paceHysteresis
        else { return }
        isRunningOut = false
        paceClearedAt = reading.observedAt
    }

    private mutating func levelAlert(_ reading: Reading, now: Date) -> Alert? {
        let passed = reading.levels.last { $0 <= usedPercent }.flatMap { $0 > level ? $0 : nil }
        level = max(level, usedPercent)
        guard let passed else { return nil }
        let mark = mark("level", level: passed.wholeSeconds, observed: observedAt, clearedAt: clearedAt)
        var alert = alert(passed >= 100 ? .reached : .threshold, mark, now: now)
        alert.threshold = passed
        alert.runsOutAt = reading.pace?.runsOutAt
        return alert
    }

    private mutating func paceAlert(_ reading: Reading, _ rules: AlertRules, now: Date) -> Alert? {
        guard !isRunningOut, reading.runsOutEarly else { return nil }
        isRunningOut = true
        guard rules.runsOut else { return nil }
        let mark = mark("pace", observed: observedAt, clearedAt: paceClearedAt)
        var alert = alert(.runsOut, mark, now: now)
        alert.runsOutAt = reading.pace?.runsOutAt
        return alert
    }

    private func resetAlert(_ rules: AlertRules, now: Date) -> Alert? {
        guard !hasReset, let least = rules.resetFrom, peak >= least else { return nil }
        var alert = alert(.reset, mark("reset"), now: now)
        alert.usedPercent = peak
        alert.observedAt = nil
        return alert
    }

    private func alert(_ kind: Alert.Kind, _ mark: AlertMark, now: Date) -> Alert {
        var alert = Alert(kind: kind, at: now, mark: mark)
        alert.subject = subject
        alert.usedPercent = usedPercent
        alert.resetsAt = resetsAt
        alert.observedAt = observedAt
        return alert
    }

    private func mark(_ rule: String, level: Int = 0, observed: Date? = nil, clearedAt: Date? = nil) -> AlertMark {
        func seconds(_ date: Date?) -> Int { date?.timeIntervalSince1970.wholeSeconds ?? 0 }
        return AlertMark(
            key: AlertMark.hash(identity, rule), instance: seconds(resetsAt), level: level, observed: seconds(observed),
            clearedAt: seconds(clearedAt), tolerance: Self.tolerance(minutes: subject.windowMinutes))
    }
}

extension WatchedWindow.Reading {
    fileprivate var runsOutEarly: Bool { pace?.warning(in: window) != nil }
}
