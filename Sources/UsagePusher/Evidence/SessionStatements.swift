import Essentials

/// What the sessions of a tool last stated about one limit, which tells whether one of them repeats an old window.
///
/// A session that has been idle may state the window that it was told before its pause under the present time, seconds
/// after another session was given the next one. A reading of a session is such a **repetition** when the last
/// statement of another session, or of a document, is older than it and of the following window, unless its own session
/// - has stated that following window itself, at any time, or
/// - has stated two different things since then: it is being answered, and the provider took the window back.
///
/// Laws, whatever the order in which readings are added:
/// - Of sessions that are all answered, while the provider takes no window back, the newest reading counts.
/// - If sessions also repeat what they were last told, the window of the newest answer counts.
/// - At least one reading of a limit is no repetition.
/// - A window that the provider took back counts from the second different answer of any session on, and from the first
///   answer of a session that had stated the following window.
struct SessionStatements: Sendable, Equatable {
    private struct Session: Sendable, Equatable {
        var newest: LimitReading
        /// The newest that states other windows than `newest`.
        var former: LimitReading?
        /// The one with the latest reset of each kind of window.
        var latest: [WindowKind: LimitReading] = [:]
    }

    /// By the session's file; documents and rejections, which repeat nothing, together under nil.
    private var sessions: [String?: Session] = [:]
    private var latestResets: [WindowKind: Date] = [:]

    mutating func add(_ reading: LimitReading) {
        guard !reading.windows.isEmpty else { return }
        var session = sessions[reading.session] ?? Session(newest: reading)
        let (older, newer) =
            LimitReading.isOlder(reading, than: session.newest)
            ? (reading, session.newest) : (session.newest, reading)
        let others = [session.former, older].compactMap { $0 }.filter {
            $0.windows != newer.windows
        }
        session.newest = newer
        session.former = others.max { LimitReading.isOlder($0, than: $1) }
        for window in reading.windows {
            guard let reset = window.resetsAt else { continue }
            latestResets[window.kind] = max(reset, latestResets[window.kind] ?? reset)
            let known = session.latest[window.kind]
            if known.map({ Self.isEarlier($0, than: reading, window.kind) }) ?? true {
                session.latest[window.kind] = reading
            }
        }
        sessions[reading.session] = session
    }

    /// All that are kept.
    var readings: [LimitReading] {
        sessions.values.flatMap { session in
            [session.newest] + [session.former].compactMap { $0 } + session.latest.values
        }
    }

    /// The newest that is no repetition; nil without any.
    var newest: LimitReading? {
        sessions.values.map(\.newest).filter { original(of: $0) == nil }.max { LimitReading.isOlder($0, than: $1) }
    }

    /// The last statements of sessions that are repetitions.
    var repetitions: [Repetition] {
        sessions.values.map(\.newest).compactMap { reading in
            original(of: reading).map { Repetition(reading: reading, original: $0) }
        }
    }

    /// The newest statement of the following window that shows a reading to be a repetition; nil when it is none.
    func original(of reading: LimitReading) -> LimitReading? {
        guard reading.session != nil, let own = sessions[reading.session],
            reading.windows.contains(where: { $0.isFollowed(by: latestResets[$0.kind]) })
        else { return nil }
        return sessions.lazy.filter { $0.key != reading.session }.map(\.value.newest).filter {
            Self.isFollowed(reading, by: $0, unknownTo: own)
        }.max { LimitReading.isOlder($0, than: $1) }
    }

    private static func isFollowed(_ reading: LimitReading, by other: LimitReading, unknownTo own: Session) -> Bool {
        guard !other.isFromFuture, LimitReading.isOlder(other, than: reading) else { return false }
        if let former = own.former, LimitReading.isOlder(other, than: former) { return false }
        return reading.windows.contains { window in
            let reset = other.reset(of: window.kind)
            guard window.isFollowed(by: reset) else { return false }
            let latest = own.latest[window.kind]?.windows.first { $0.kind == window.kind }
            return latest.map { $0.isFollowed(by: reset) } ?? true
        }
    }

    private static func isEarlier(_ left: LimitReading, than right: LimitReading, _ kind: WindowKind) -> Bool {
        let resets = [left, right].map { $0.reset(of: kind) ?? .distantPast }
        return resets[0] == resets[1] ? LimitReading.isOlder(left, than: right) : resets[0] < resets[1]
    }
}

/// A session's statement of a window that is over, and what shows that.
struct Repetition: Sendable, Equatable {
    var reading: LimitReading
    var original: LimitReading

    /// When the window began that the session may have stated itself.
    var windowStart: Date {
        let starts = original.windows.compactMap { window in
            window.resetsAt?.addingTimeInterval(-window.kind.seconds)
        }
        return (starts + [original.observedAt]).min() ?? original.observedAt
    }
}

extension LimitReading {
    fileprivate func reset(of kind: WindowKind) -> Date? {
        windows.first { $0.kind == kind }?.resetsAt
    }
}

extension LimitReading.Window {
    /// Whether a window of the same kind with this reset is a later one, and not this one with its reset moved.
    ///
    /// The reset of the next window is a whole length later, less what was left of the former when the provider gave
    /// the next one early; of the same window it moves by minutes, and rarely by days. Half a length separates the two.
    fileprivate func isFollowed(by reset: Date?) -> Bool {
        guard let resetsAt, let reset else { return false }
        return reset.timeIntervalSince(resetsAt) >= kind.seconds / 2
    }
}
