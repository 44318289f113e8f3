public import SnapshotModels

/// Decides when to read the sources and when to push their snapshot.
///
/// A value without a clock: every call takes the time, as a `Duration` since some fixed instant of
/// a clock that never steps. The caller performs the action of `next(at:)`, reports its outcome and
/// asks again; changed files are reported at any time.
///
/// - The first change after a quiet time is read at once. A snapshot that looks different from the
///   last pushed one, see `SyncedUsageSnapshot.looksDifferent(from:)`, is pushed at once.
/// - What follows a push within `coalescingInterval` is gathered into one read. A read that found no
///   difference, say a line that is not complete yet, gathers nothing: the next change is read at
///   once.
/// - Reads keep `readRate`, and `restFactor` when they take long; pushes keep `pushRate`. What
///   changes in between is read and pushed as soon as they allow, so the last change of a burst is
///   never left unpushed.
/// - `heartbeat` after the last push all sources are read and the snapshot is pushed even if it
///   looks the same, so that a reader can distinguish a quiet pusher from a dead one.
/// - Costs are updated beside everything else, so that limits never wait for them: with a heartbeat, and after a change
///   once `costInterval` and `costRestFactor` times the last update's duration have passed. Costs that are asked for
///   wait only for the latter. Only the first push waits for costs, so that those of an earlier run do not disappear
///   from the screens for a moment.
/// - Without any provider nothing is pushed: the stored snapshot stays, and shows its age. A
///   provider that vanishes beside others is a difference like any other.
/// - A failed push is retried after `retryDelay`, doubled each time up to `retryDelayLimit`, with
///   the newest snapshot.
///
/// ```swift
/// var plan = PushPlan(at: .zero)
/// print(plan.next(at: .zero))                     // readAll
/// plan.readEnded(snapshot, at: .milliseconds(20))
/// print(plan.next(at: .milliseconds(20)))         // push(…)
/// plan.pushEnded(succeeded: true, at: .milliseconds(30))
/// ```
public struct PushPlan: Sendable, Equatable {
    public struct Timing: Sendable, Equatable {
        /// From one push to the next, or to the next read.
        public var coalescingInterval = Duration.milliseconds(100)
        public var readRate = Rate(burst: 4, interval: .milliseconds(250))
        public var pushRate = Rate(burst: 3, interval: .seconds(1))
        /// After a read, none follows for this many times its duration.
        public var restFactor = 4
        public var heartbeat = Duration.seconds(100)
        /// From the end of an update of the costs to the next, unless that is asked for.
        public var costInterval = Duration.seconds(15)
        /// After an update of the costs, none follows for this many times its duration.
        public var costRestFactor = 20
        public var retryDelay = Duration.seconds(2)
        public var retryDelayLimit = Duration.seconds(60)

        public init() {}
    }

    /// A token bucket: any time span holds at most `burst` events and one more per `interval`.
    public struct Rate: Sendable, Equatable {
        public var burst: Int
        public var interval: Duration

        public init(burst: Int, interval: Duration) {
            self.burst = burst
            self.interval = interval
        }
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
        /// Begin to update the costs, ask again, and call `costsUpdated` when done.
        case updateCosts
        /// Ask again at this time, when files change, or when costs are asked for.
        case wait(until: Duration)
    }

    private enum State: Sendable, Equatable {
        case idle
        case reading(since: Duration, isHeartbeat: Bool)
        case pushing(SyncedUsageSnapshot, since: Duration)
    }

    /// The tokens of a `Rate`.
    private struct Tokens: Sendable, Equatable {
        /// When the bucket is full again.
        private var full: Duration
        private let rate: Rate

        init(_ rate: Rate, at now: Duration) {
            self.rate = rate
            full = now
        }

        /// When the next event may happen.
        var next: Duration { full - rate.interval * (rate.burst - 1) }

        mutating func take(at now: Duration) { full = max(full, now) + rate.interval }
    }

    private let timing: Timing
    private var state = State.idle
    /// When what has changed may be read; nil when nothing has.
    private var changeDue: Duration?
    private var nextRead: Duration
    private var nextPush: Duration
    private var readTokens: Tokens
    private var pushTokens: Tokens
    private var heartbeatDue: Duration
    /// When costs are to be updated; nil when nothing has changed.
    private var costsDue: Duration?
    private var nextCosts: Duration
    /// When they may be updated because somebody asks.
    private var nextAskedCosts: Duration
    private var areCostsAsked = false
    /// Nil when no update is under way.
    private var costsBegan: Duration?
    private let hasCosts: Bool
    private var awaitsFirstCosts: Bool
    private var pending: Pending?
    private var lastPushed: SyncedUsageSnapshot?
    private var failureCount = 0

    private struct Pending: Sendable, Equatable {
        var snapshot: SyncedUsageSnapshot
        var reason: Reason
    }

    /// A plan that begins by reading all sources, and updates costs if there are any.
    public init(timing: Timing = Timing(), hasCosts: Bool = false, at now: Duration) {
        self.timing = timing
        self.hasCosts = hasCosts
        awaitsFirstCosts = hasCosts
        costsDue = hasCosts ? now : nil
        nextCosts = now
        nextAskedCosts = now
        nextRead = now
        nextPush = now
        heartbeatDue = now
        readTokens = Tokens(timing.readRate, at: now)
        pushTokens = Tokens(timing.pushRate, at: now)
    }

    /// The action to perform now.
    ///
    /// - Precondition: No read or push is under way.
    public mutating func next(at now: Duration) -> Action {
        guard case .idle = state else { preconditionFailure("the last action has not been reported as ended") }
        let pushDue = pending == nil || awaitsFirstCosts ? nil : nextPush
        if let pending, let pushDue, now >= pushDue {
            state = .pushing(pending.snapshot, since: now)
            return .push(pending.snapshot, pending.reason)
        }
        if now >= heartbeatDue {
            state = .reading(since: now, isHeartbeat: true)
            changeDue = nil
            changeCosts(due: now)
            return .readAll
        }
        let readDue = changeDue.map { max($0, nextRead) }
        if let readDue, now >= readDue {
            state = .reading(since: now, isHeartbeat: false)
            changeDue = nil
            return .readChanged
        }
        let costsDue =
            costsBegan == nil ? self.costsDue.map { max($0, areCostsAsked ? nextAskedCosts : nextCosts) } : nil
        if let costsDue, now >= costsDue {
            costsBegan = now
            self.costsDue = nil
            areCostsAsked = false
            return .updateCosts
        }
        let times = [heartbeatDue, readDue, pushDue, costsDue]
        return .wait(until: times.compactMap { $0 }.min() ?? heartbeatDue)
    }

    /// - Parameter due: when the files may be read; at once unless stated.
    public mutating func filesChanged(due: Duration = .zero) {
        changeDue = min(changeDue ?? due, due)
        changeCosts(due: due)
    }

    /// What the costs depend on has changed, say a budget, and not the files.
    public mutating func costsAsked() {
        areCostsAsked = true
        changeCosts(due: .zero)
    }

    private mutating func changeCosts(due: Duration) {
        if hasCosts { costsDue = min(costsDue ?? due, due) }
    }

    /// The snapshot has the new costs, and is nil when nothing is known. If logs are left to read, another update
    /// follows.
    public mutating func costsUpdated(_ snapshot: SyncedUsageSnapshot?, isPartial: Bool, at now: Duration) {
        guard let began = costsBegan else { preconditionFailure("no costs are being updated") }
        costsBegan = nil
        awaitsFirstCosts = false
        nextAskedCosts = now + (now - began) * timing.costRestFactor
        nextCosts = max(now + timing.costInterval, nextAskedCosts)
        if isPartial { costsDue = .zero }
        offer(snapshot, isHeartbeat: false)
    }

    /// The snapshot is nil when no source knows anything.
    public mutating func readEnded(_ snapshot: SyncedUsageSnapshot?, at now: Duration) {
        guard case .reading(let since, let isHeartbeat) = state else { preconditionFailure("no read is under way") }
        state = .idle
        readTokens.take(at: since)
        nextRead = max(readTokens.next, now + (now - since) * timing.restFactor, nextRead)
        if isHeartbeat { heartbeatDue = now + timing.heartbeat }
        offer(snapshot, isHeartbeat: isHeartbeat)
    }

    private mutating func offer(_ snapshot: SyncedUsageSnapshot?, isHeartbeat: Bool) {
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
        guard case .pushing(let snapshot, let since) = state else { preconditionFailure("no push is under way") }
        state = .idle
        if succeeded {
            lastPushed = snapshot
            pending = nil
            failureCount = 0
            heartbeatDue = since + timing.heartbeat
            pushTokens.take(at: since)
            nextPush = max(since + timing.coalescingInterval, pushTokens.next)
            nextRead = max(nextRead, nextPush)
        } else {
            let delay = timing.retryDelay * (1 << min(failureCount, 16))
            nextPush = now + min(delay, timing.retryDelayLimit)
            failureCount += 1
        }
    }
}
