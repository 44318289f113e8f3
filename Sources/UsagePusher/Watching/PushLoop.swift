import Dispatch
public import Essentials
public import SnapshotModels

/// Watches the sources' files and pushes until its task is cancelled, as `PushDecider` decides.
///
/// ```swift
/// let loop = PushLoop(builder: builder, sink: sink) { report in
///     if case .pushed(let snapshot, _, _) = report { print(snapshot.providers.map(\.providerName)) }
/// }
/// await loop.run()    // until the task is cancelled
/// ```
public struct PushLoop: Sendable {
    private var builder: SnapshotBuilder
    private let publisher: SnapshotPublisher
    private let watcher: any FileWatcher
    private let refreshes: AsyncStream<Void>
    private let timing: PushPlan.Timing
    private let date: @Sendable () -> Date
    private let report: @Sendable (PushReport) -> Void

    /// `report` is called in order, from one task. With each of `refreshes` the costs are brought up to date, although
    /// no file has changed.
    public init(
        builder: SnapshotBuilder, sink: any SnapshotSink, watcher: any FileWatcher = SystemFileWatcher(),
        refreshes: AsyncStream<Void> = AsyncStream { $0.finish() }, timing: PushPlan.Timing = .init(),
        date: @escaping @Sendable () -> Date = { Date() },
        report: @escaping @Sendable (PushReport) -> Void
    ) {
        self.builder = builder
        publisher = SnapshotPublisher(sink: sink)
        self.watcher = watcher
        self.refreshes = refreshes
        self.timing = timing
        self.date = date
        self.report = report
    }

    private enum Input: Sendable {
        case watch(WatchEvent)
        case refresh
        case costs(TokenTracker)
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
            group.addTask { [refreshes] in for await _ in refreshes { inbox.yield(.refresh) } }
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
        var decider = PushDecider(timing: timing, hasCosts: builder.costs != nil)
        var event = PushDecider.Event.asked
        var inputs = inputs.makeAsyncIterator()
        while !Task.isCancelled {
            let ready = decider.handle(event, at: clock.now - start)
            for one in ready.reports { report(one) }
            switch ready.action {
            case .readAll:
                builder.readAll(at: date())
                event = .readEnded(reading())
            case .read(let changed):
                let postponed = builder.read(changed: changed, at: date())
                event = .readEnded(reading(postponed))
            case .updateCosts:
                guard let costs = builder.costs else { preconditionFailure("there are no costs") }
                let environment = builder.environment
                let now = date()
                // On a thread of its own: it lists and reads for seconds.
                DispatchQueue.global(qos: .utility).async {
                    inbox.yield(.costs(costs.updated(in: environment, at: now)))
                }
                event = .asked
            case .push(let snapshot, let reason): event = .pushEnded(succeeded: push(snapshot, reason))
            case .wait(let deadline):
                let timer = deadline.map { deadline in
                    Task {
                        try await clock.sleep(until: start + deadline)
                        inbox.yield(.timer)
                    }
                }
                let input = await inputs.next()
                timer?.cancel()
                switch input {
                case .watch(.started): event = .started
                case .watch(.degraded(let reason)): event = .degraded(reason)
                case .watch(.changed(let paths)): event = .changed(paths)
                case .refresh: event = .costsAsked
                case .costs(let updated):
                    builder.adoptCosts(updated)
                    event = .costsUpdated(
                        builder.snapshot(at: date()), gaps: builder.gaps, isPartial: updated.usage?.isPartial == true)
                case .timer: event = .asked
                case nil: return
                }
            }
        }
    }

    private func reading(_ postponed: SnapshotBuilder.Postponed? = nil) -> PushDecider.Reading {
        PushDecider.Reading(
            snapshot: builder.snapshot(at: date()), gaps: builder.gaps, unfinished: builder.unfinishedPaths,
            postponed: postponed)
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

/// What a loop has done, or could not do.
///
/// For an example see `PushLoop`.
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
