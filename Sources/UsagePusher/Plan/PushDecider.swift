import SnapshotModels

/// What `PushLoop` does next: a `PushPlan` with what has changed, what is left where a limit ended a read early, and
/// what has been reported. A value without a clock: an event and its time in, one `Ready` out.
struct PushDecider: Sendable, Equatable {
    enum Event: Sendable, Equatable {
        /// From now on changes are seen. Nothing is read before.
        case started
        case degraded(String)
        case changed(Set<WatchedPath>)
        /// What the costs depend on has changed, and no file.
        case costsAsked
        /// The action `readAll` or `read` has ended.
        case readEnded(Reading)
        /// The action `updateCosts` has ended, some time after it was begun.
        case costsUpdated(SyncedUsageSnapshot?, gaps: [SnapshotBuilder.Gap], isPartial: Bool)
        case pushEnded(succeeded: Bool)
        /// Nothing has happened: the loop begins, the time has come, or costs are being updated.
        case asked
    }

    /// What is known after a read.
    struct Reading: Sendable, Equatable {
        /// Nil when no source knows anything.
        var snapshot: SyncedUsageSnapshot?
        var gaps: [SnapshotBuilder.Gap] = []
        /// The paths of sources whose read a limit ended early.
        var unfinished: Set<WatchedPath> = []
        var postponed: SnapshotBuilder.Postponed?
    }

    enum Action: Sendable, Equatable {
        case readAll
        case read(changed: Set<WatchedPath>)
        case push(SyncedUsageSnapshot, PushPlan.Reason)
        /// Begin to update the costs, and ask at once.
        case updateCosts
        /// Ask at this time, nil for none, or tell the next event.
        case wait(until: Duration?)
    }

    /// The reports come before the action.
    struct Ready: Sendable, Equatable {
        var reports: [PushReport] = []
        var action: Action
    }

    private var plan: PushPlan
    private var changed: Set<WatchedPath> = []
    private var slicesLeft = SnapshotBuilder.sliceLimit
    private var isStarted = false
    private var wasEmpty = false
    private var gaps: [SnapshotBuilder.Gap] = []

    init(timing: PushPlan.Timing, hasCosts: Bool) {
        plan = PushPlan(timing: timing, hasCosts: hasCosts, at: .zero)
    }

    /// - Parameter now: since the loop began.
    mutating func handle(_ event: Event, at now: Duration) -> Ready {
        var reports: [PushReport] = []
        switch event {
        case .started: isStarted = true
        case .degraded(let reason): reports.append(.degraded(reason))
        case .changed(let paths):
            slicesLeft = SnapshotBuilder.sliceLimit
            changed.formUnion(paths)
            plan.filesChanged()
        case .costsAsked: plan.costsAsked()
        case .readEnded(let reading): readEnded(reading, at: now, &reports)
        case .costsUpdated(let snapshot, let gaps, let isPartial):
            if !isPartial { report(gaps, &reports) }
            plan.costsUpdated(snapshot, isPartial: isPartial, at: now)
        case .pushEnded(let succeeded): plan.pushEnded(succeeded: succeeded, at: now)
        case .asked: break
        }
        return Ready(reports: reports, action: isStarted ? action(at: now) : .wait(until: nil))
    }

    private mutating func action(at now: Duration) -> Action {
        switch plan.next(at: now) {
        case .readAll:
            slicesLeft = SnapshotBuilder.sliceLimit
            return .readAll
        case .readChanged: return .read(changed: changed)
        case .push(let snapshot, let reason): return .push(snapshot, reason)
        case .updateCosts: return .updateCosts
        case .wait(let deadline): return .wait(until: deadline)
        }
    }

    private mutating func readEnded(_ reading: Reading, at now: Duration, _ reports: inout [PushReport]) {
        let postponed = reading.postponed
        changed = slicesLeft > 0 ? reading.unfinished.subtracting(postponed?.paths ?? []) : []
        if changed.isEmpty {
            report(reading.gaps, &reports)
        } else {
            slicesLeft -= 1
            plan.filesChanged()
        }
        if let postponed {
            changed.formUnion(postponed.paths)
            plan.filesChanged(due: now + .seconds(postponed.seconds))
        }
        if reading.snapshot == nil, !wasEmpty { reports.append(.empty) }
        wasEmpty = reading.snapshot == nil
        plan.readEnded(reading.snapshot, at: now)
    }

    private mutating func report(_ gaps: [SnapshotBuilder.Gap], _ reports: inout [PushReport]) {
        if gaps != self.gaps { reports.append(.incomplete(gaps)) }
        self.gaps = gaps
    }
}
