import Synchronization

/// Whether a simulated process still runs. One that does not can no longer touch its disk.
package final class Life: Sendable {
    private let state = Mutex(false)

    package var isOver: Bool { state.withLock { $0 } }

    package init() {}

    package func end() { state.withLock { $0 = true } }
}
