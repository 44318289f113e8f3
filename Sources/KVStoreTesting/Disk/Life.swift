import Synchronization

/// Whether a simulated process still runs. One that does not can no longer touch its disk.
final class Life: Sendable {
    private let state = Mutex(false)

    var isOver: Bool { state.withLock { $0 } }

    func end() { state.withLock { $0 = true } }
}
