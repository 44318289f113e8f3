import KVStoreSimulation
import Synchronization

/// What observers of a notification do while they are called. A notification is recorded only when all of its store
/// have been delivered, so that a record has one order; this then follows it.
final class Responses: Sendable {
    private struct State {
        var events: [EventDocument] = []
        var isComplete = false
    }

    /// Belongs to the notification that this task is posting.
    @TaskLocal static var current: Responses?

    private let state = Mutex(State())

    var events: [EventDocument] { state.withLock { $0.events } }

    /// Returns false once the observers have returned; a task that one of them has begun goes on.
    func append(_ event: EventDocument) -> Bool {
        state.withLock { state in
            if !state.isComplete { state.events.append(event) }
            return !state.isComplete
        }
    }

    func complete() { state.withLock { $0.isComplete = true } }
}
