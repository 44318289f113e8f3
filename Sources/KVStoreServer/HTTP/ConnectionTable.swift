import Synchronization

/// The number of open connections.
final class ConnectionTable: Sendable {
    private let connections = Atomic(0)

    var count: Int { connections.load(ordering: .relaxed) }

    /// Counts a connection; returns how many there are with it.
    func open() -> Int { connections.add(1, ordering: .relaxed).newValue }

    func close() { connections.subtract(1, ordering: .relaxed) }
}
