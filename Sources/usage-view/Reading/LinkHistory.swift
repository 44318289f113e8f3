import Essentials
import KVStoreEssentials
import Synchronization

/// When the daemon was known to respond last, while this process runs. The store keeps only when something was
/// synchronized, which may be long before a quiet connection is lost.
final class LinkHistory: Sendable {
    private let state = Mutex((isConnected: false, lost: Date?.none))

    /// Notes a state of the connection, and returns when it was last a good one: not the present one, which may have
    /// been lost since it was good. Nil if it never was.
    func lastSeen(_ connection: StoreStatus.Connection, lastSync: Date?, at now: Date) -> Date? {
        let lost = state.withLock { state in
            if state.isConnected, connection != .connected { state.lost = now }
            state.isConnected = connection == .connected
            return state.lost
        }
        return [lastSync, lost].compactMap { $0 }.max()
    }
}
