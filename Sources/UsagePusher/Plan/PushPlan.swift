public import SnapshotModels

/// Decides when to read the sources and when to push what they said.
///
/// A value without a clock: every call brings the time, as a `Duration` since any fixed moment of
/// a clock that never steps. The caller asks `next(at:)`, does what it says, tells the outcome and
/// asks again; files that change are told at any time.
///
/// - The first change after a quiet time is read after `settle`, so that a line which is written
///   in pieces is whole. Later ones keep `readGap`, `pushGap` and `restShare`.
/// - A push follows when the snapshot looks different from the one pushed last, see
///   `SyncedUsageSnapshot.looksDifferent(from:)`.
/// - `heartbeat` after the last push everything is read anew and pushed even if it looks the same,
///   so that a reader can tell a quiet pusher from a dead one.
/// - Without any provider nothing is pushed: what is stored stays, and its age tells the rest. A
///   provider that vanishes beside others is a difference like any other.
/// - A failed push is tried again after `retry`, doubled each time up to `retryLimit`, with what
///   was read in the meantime.
public struct PushPlan: Sendable, Equatable {
    public struct Timing: Sendable, Equatable {
        public var settle = Duration.milliseconds(100)
        /// From the start of a read to the start of the next.
        public var readGap = Duration.milliseconds(250)
        /// From one push to the next, or to the next read.
        public var pushGap = Duration.seconds(1)
        /// A read that took long is followed by this many times as long without one.
        public var restShare = 4
        public var heartbeat = Duration.seconds(100)
        public var retry = Duration.seconds(2)
        public var retryLimit = Duration.seconds(60)

        public init() {}
    }

    public enum Reason: String, Sendable, Equatable, Codable {
        /// The snapshot looks different from the last one.
        case change
        /// It looks the same; only its time is new.
        case heartbeat
    }

    public enum Action: Sendable, Equatable {
        /// Read the sources whose files changed, then call `readEnded`.
        case readChanged
        /// Read all sources, then call `readEnded`.
        case readAll
        /// Push the snapshot, then call `pushEnded`.
        case push(SyncedUsageSnapshot, Reason)
        /// Ask again at this time, or earlier when files change.
        case wait(until: Duration)
    }

    private enum State: Sendable, Equatable {
        case idle
        case reading(since: Duration, isHeartbeat: Bool)
        case pushing(SyncedUsageSnapshot, since: Duration)
    }

    private let timing: Timing
    private var state = State.idle
    private var changedSince: Duration?
    private var nextRead: Duration
    private var nextPush: Duration
    private var heartbeatDue: Duration
    private var pending: Pending?
    private var lastPushed: SyncedUsageSnapshot?
    private var failureCount = 0

    private struct Pending: Sendable, Equatable {
        var snapshot: SyncedUsageSnapshot
        var reason: Reason
    }

    /// A plan that begins with a read of everything.
    public init(timing: Timing = Timing(), at now: Duration) {
        self.timing = timing
        nextRead = now
        nextPush = now
        heartbeatDue = now
    }

    /// What to do now. Not to be asked while a read or a push is under way.
    public mutating func next(at now: Duration) -> Action {
        guard case .idle = state else {
            preconditionFailure("the outcome of the last action has not been told")
        }
        if let pending, now >= nextPush {
            state = .pushing(pending.snapshot, since: now)
            return .push(pending.snapshot, pending.reason)
        }
        if now >= heartbeatDue {
            state = .reading(since: now, isHeartbeat: true)
            changedSince = nil
            return .readAll
        }
        let readDue = changedSince.map { max($0 + timing.settle, nextRead) }
        if let readDue, now >= readDue {
            state = .reading(since: now, isHeartbeat: false)
            changedSince = nil
            return .readChanged
        }
        let times = [heartbeatDue, readDue, pending == nil ? nil : nextPush]
        return .wait(until: times.compactMap { $0 }.min() ?? heartbeatDue)
    }

    public mutating func filesChanged(at now: Duration) {
        changedSince = changedSince ?? now
    }

    /// `snapshot` is nil when the sources have nothing to say.
    public mutating func readEnded(_ snapshot: SyncedUsageSnapshot?, at now: Duration) {
        guard case .reading(let since, let isHeartbeat) = state else {
            preconditionFailure("no read is under way")
        }
        state = .idle
        nextRead = max(since + timing.readGap, now + (now - since) * timing.restShare, nextRead)
        if isHeartbeat { heartbeatDue = now + timing.heartbeat }
        guard let snapshot, !snapshot.providers.isEmpty else {
            pending = nil
            return
        }
        if lastPushed.map({ snapshot.looksDifferent(from: $0) }) ?? true {
            pending = Pending(snapshot: snapshot, reason: .change)
        } else if isHeartbeat || pending != nil {
            pending = Pending(snapshot: snapshot, reason: pending?.reason ?? .heartbeat)
        }
    }

    public mutating func pushEnded(succeeded: Bool, at now: Duration) {
        guard case .pushing(let snapshot, let since) = state else {
            preconditionFailure("no push is under way")
        }
        state = .idle
        if succeeded {
            lastPushed = snapshot
            pending = nil
            failureCount = 0
            heartbeatDue = since + timing.heartbeat
            nextPush = since + timing.pushGap
            nextRead = max(nextRead, nextPush)
        } else {
            nextPush = now + retryDelay
            failureCount += 1
        }
    }

    private var retryDelay: Duration {
        min(timing.retry * (1 << min(failureCount, 16)), timing.retryLimit)
    }
}
