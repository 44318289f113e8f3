public import Foundation
public import SnapshotModels

/// Watches the sources' files and pushes until its task is cancelled, as `PushPlan` decides.
public struct PushLoop: Sendable {
    private var builder: SnapshotBuilder
    private let publisher: SnapshotPublisher
    private let watcher: any FileWatcher
    private let timing: PushPlan.Timing
    private let date: @Sendable () -> Date
    private let report: @Sendable (PushReport) -> Void

    /// `report` is called in order, from one task.
    public init(
        builder: SnapshotBuilder, sink: any SnapshotSink,
        watcher: any FileWatcher = SystemFileWatcher(), timing: PushPlan.Timing = .init(),
        date: @escaping @Sendable () -> Date = { Date() },
        report: @escaping @Sendable (PushReport) -> Void
    ) {
        self.builder = builder
        publisher = SnapshotPublisher(sink: sink)
        self.watcher = watcher
        self.timing = timing
        self.date = date
        self.report = report
    }

    private enum Input: Sendable {
        case watch(WatchEvent)
        case costs(TokenUsage)
        case timer
    }

    /// Returns when the task is cancelled.
    public func run() async {
        let (inputs, inbox) = AsyncStream<Input>.makeStream()
        let events = watcher.events(for: builder.watchedPaths)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await event in events { inbox.yield(.watch(event)) }
                inbox.finish()
            }
            var copy = self
            await copy.run(inputs, inbox)
            group.cancelAll()
        }
    }

    private mutating func run(
        _ inputs: AsyncStream<Input>, _ inbox: AsyncStream<Input>.Continuation
    ) async {
        let clock = ContinuousClock()
        let start = clock.now
        var plan = PushPlan(timing: timing, hasCosts: builder.costs != nil, at: .zero)
        var changed: Set<WatchedPath> = []
        var isStarted = false
        var wasEmpty = false
        var gaps: [SnapshotBuilder.Gap] = []
        func reportGaps(of builder: SnapshotBuilder) {
            if builder.gaps != gaps { report(.incomplete(builder.gaps)) }
            gaps = builder.gaps
        }
        var slicesLeft = SnapshotBuilder.sliceLimit
        var inputs = inputs.makeAsyncIterator()
        while !Task.isCancelled {
            var timer: Task<Void, Never>?
            if isStarted {
                let action = plan.next(at: clock.now - start)
                switch action {
                case .readAll, .readChanged:
                    var postponed: SnapshotBuilder.Postponed?
                    if action == .readAll {
                        slicesLeft = SnapshotBuilder.sliceLimit
                        builder.readAll(at: date())
                    } else {
                        postponed = builder.read(changed: changed, at: date())
                    }
                    changed = slicesLeft > 0 ? builder.unfinishedPaths : []
                    if let postponed { changed.subtract(postponed.paths) }
                    if changed.isEmpty {
                        reportGaps(of: builder)
                    } else {
                        slicesLeft -= 1
                        plan.filesChanged()
                    }
                    if let postponed {
                        changed.formUnion(postponed.paths)
                        plan.filesChanged(due: clock.now - start + .seconds(postponed.seconds))
                    }
                    let snapshot = builder.snapshot(at: date())
                    if snapshot == nil, !wasEmpty { report(.empty) }
                    wasEmpty = snapshot == nil
                    plan.readEnded(snapshot, at: clock.now - start)
                    continue
                case .updateCosts:
                    guard let costs = builder.costs else {
                        preconditionFailure("there are no costs")
                    }
                    let environment = builder.environment
                    let now = date()
                    // On a thread of its own: it lists and reads for seconds.
                    DispatchQueue.global(qos: .utility).async {
                        inbox.yield(.costs(costs.updatedUsage(in: environment, at: now)))
                    }
                    continue
                case .push(let snapshot, let reason):
                    let succeeded = push(snapshot, reason)
                    plan.pushEnded(succeeded: succeeded, at: clock.now - start)
                    continue
                case .wait(let deadline):
                    timer = Task {
                        guard (try? await clock.sleep(until: start + deadline)) != nil else {
                            return
                        }
                        inbox.yield(.timer)
                    }
                }
            }
            let input = await inputs.next()
            timer?.cancel()
            switch input {
            case .watch(.started): isStarted = true
            case .watch(.degraded(let reason)): report(.degraded(reason))
            case .watch(.changed(let paths)):
                slicesLeft = SnapshotBuilder.sliceLimit
                changed.formUnion(paths)
                plan.filesChanged()
            case .costs(let usage):
                builder.adoptCosts(usage)
                if !usage.isPartial { reportGaps(of: builder) }
                plan.costsUpdated(builder.snapshot(at: date()), isPartial: usage.isPartial, at: clock.now - start)
            case .timer: break
            case nil: return
            }
        }
    }

    private func push(_ snapshot: SyncedUsageSnapshot, _ reason: PushPlan.Reason) -> Bool {
        let now = date()
        var stamped = snapshot
        stamped.syncTimestamp = now
        do {
            let receipt = try publisher.publish(stamped, at: now)
            report(.pushed(stamped, reason, receipt))
            return true
        } catch {
            report(.failed("\(error)"))
            return false
        }
    }
}

public enum PushReport: Sendable, Equatable {
    case pushed(SyncedUsageSnapshot, PushPlan.Reason, SnapshotPublisher.Receipt)
    /// A push failed and will be retried.
    case failed(String)
    /// Changes may be noticed late.
    case degraded(String)
    /// No source knows anything; reported once until one does.
    case empty
    /// What can not be read, when that has changed; nothing when everything can be again.
    case incomplete([SnapshotBuilder.Gap])
}
