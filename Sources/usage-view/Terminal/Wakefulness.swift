import Essentials

/// When the live screen looks at the clock next, and whether it has missed more than it meant to. Pure.
struct Wakefulness: Sendable, Equatable {
    /// The longest time without a look, in seconds: how late a clock that is set back is noticed, and how exactly a
    /// sleep of the machine is known.
    static let longestSleep: TimeInterval = 60
    /// A connection does not survive being unattended for longer: the daemon sends a heartbeat every 15 s, and three
    /// that are missed end it.
    static let tolerance: TimeInterval = 45

    private var last: Date?

    /// Records that the process is awake.
    ///
    /// - Returns: since when it was not, if it has missed anything: the machine slept, or the process was stopped.
    mutating func markAwake(_ now: Date) -> Date? {
        defer { last = now }
        guard let last, now.timeIntervalSince(last) > Self.longestSleep + Self.tolerance else { return nil }
        return last
    }

    /// When to look next, with nothing else happening.
    ///
    /// - Parameter change: when what is shown changes.
    func nextLook(at now: Date, change: Date?) -> Date {
        let latest = now.addingTimeInterval(Self.longestSleep)
        return change.map { min($0, latest) } ?? latest
    }
}
