/// What the owner of a replica must do after an event, as raft's `Ready` does it.
///
/// Order contract:
/// 1. `entries` are appended to the log as one frame, which a torn write keeps whole or not at all. If that
///    fails, nothing else may be done, and memory is restored from the log: so nothing leaves the replica
///    that a killed process would not know again.
/// 2. With `mustSync`, everything appended so far is durable before `request` is sent: so no stamp that
///    another device may have seen is issued twice.
/// 3. The rest in any order.
package struct Ready: Sendable, Equatable {
    package struct Outgoing: Sendable, Equatable {
        /// Names the request in `Event.answered`.
        package var id: UInt64
        package var request: SyncRequest
    }

    package enum StreamCommand: Sendable, Equatable {
        /// Report what arrives as `Event.stream` and the end as `Event.streamEnded`, with this id.
        case open(id: UInt64, since: SyncCursor)
        /// No `streamEnded` follows.
        case close
    }

    package struct Completion: Sendable, Equatable {
        /// As `Replica.synchronize` returned it.
        package var waiter: UInt64
        package var outcome: Result<SyncReport, SyncTransportError>

        package init(waiter: UInt64, outcome: Result<SyncReport, SyncTransportError>) {
            self.waiter = waiter
            self.outcome = outcome
        }
    }

    package var entries: [ReplicaEntry] = []
    package var mustSync = false
    /// At most one request is under way at a time.
    package var request: Outgoing?
    /// At most one stream is open at a time.
    package var stream: StreamCommand?
    package var notifications: [StoreChange] = []
    /// Report `Event.woke` at this monotonic millisecond; replaces an earlier one.
    package var wakeAt: Int64?
    package var completions: [Completion] = []

    package init() {}
}

/// What happened outside of a replica.
package enum Event: Sendable, Equatable {
    /// There is a transport. With `isLive` the replica keeps a stream open.
    case attached(isLive: Bool)
    /// The outcome of a request. One that is no longer under way is ignored.
    case answered(id: UInt64, Result<SyncResponse, SyncTransportError>)
    /// An event of a stream. A stream that is no longer wanted is ignored.
    case stream(id: UInt64, SyncEvent)
    /// A stream has ended; nil when the daemon closed it.
    case streamEnded(id: UInt64, SyncTransportError?)
    /// The time of an earlier `wakeAt` has come. Early and repeated wake-ups are harmless.
    case woke

    /// How to go on after an event could not be written, as `Replica.recovery` decides it.
    package enum Recovery {
        /// Handle this event instead: the replica sees a failure and tries again later.
        case handle(Event)
        /// The replica depends on the event: deliver it again after `Backoff.greatestMilliseconds`.
        case redeliver
        /// The caller has the error.
        case drop
    }
}

/// Executes the outward part of a `Ready`, whose entries are in the log.
///
/// The real driver, the simulators and the model each supply these calls; `Ready.execute` is the only place that
/// interprets a `Ready`.
package protocol ReadyExecutor {
    associatedtype Failure: Error

    mutating func notify(_ change: StoreChange) throws(Failure)
    mutating func closeStream() throws(Failure)
    mutating func openStream(id: UInt64, since: SyncCursor) throws(Failure)
    /// With `mustSync` the log is synced first.
    mutating func send(_ outgoing: Ready.Outgoing, mustSync: Bool) throws(Failure)
    mutating func wake(at milliseconds: Int64) throws(Failure)
    mutating func complete(_ completion: Ready.Completion) throws(Failure)
}

extension Ready {
    package func execute<Executor: ReadyExecutor>(on executor: inout Executor) throws(Executor.Failure) {
        for change in notifications { try executor.notify(change) }
        switch stream {
        case .close: try executor.closeStream()
        case .open(let id, let since): try executor.openStream(id: id, since: since)
        case nil: break
        }
        if let request { try executor.send(request, mustSync: mustSync) }
        if let wakeAt { try executor.wake(at: wakeAt) }
        for completion in completions { try executor.complete(completion) }
    }
}
