import CommandSupport
import Foundation
import KVStore
import KVStoreHTTP
import SnapshotModels
import Synchronization
import UsagePusher

/// The store of this user as a place to push to. The only file that knows the store.
///
/// What is put is in the replica's log before the call returns; it reaches the daemon at once
/// where the store is live, else with `synchronize`.
final class StoreSink: SnapshotSink {
    /// What became of what was put.
    enum Delivery: Sendable {
        /// No account has been joined: it stays on this machine.
        case local
        case delivered
        /// The daemon did not answer, or has no room now; it gets it later.
        case waiting(String)
        /// The daemon does not accept this machine.
        case refused(StoreError)

        var isDelivered: Bool { if case .delivered = self { true } else { false } }

        /// What is added to the line about a push.
        var remark: String {
            switch self {
            case .local: ", on this machine (share it with: kvs join)"
            case .delivered, .refused: ""
            case .waiting(let reason): ", stored here until the daemon can be reached: \(reason)"
            }
        }
    }

    let store: UbiquitousKeyValueStore
    /// What the store was opened with; nil where no account has been joined.
    let credentials: Credentials?
    private let delivery = Mutex(Delivery.local)

    /// Other devices' snapshots that are looked at.
    private static let deviceCount = 64
    /// A single push does not keep a person waiting.
    private static let timeouts = HTTPTimeouts(connect: .seconds(3), request: .seconds(10))

    /// Opens the store; what that repaired is told on standard error.
    init(environment: StoreEnvironment, storeName: String, isLive: Bool) throws(StoreError) {
        credentials = try environment.credentials()
        store = try UbiquitousKeyValueStore(
            configuration: environment.configuration(
                of: credentials, storeNamed: storeName, isLive: isLive,
                timeouts: isLive ? HTTPTimeouts() : Self.timeouts))
        for note in store.status.recoveryNotes { Console.report(note) }
    }

    func put(_ data: Data, forKey key: String) throws {
        try store.write(.data(data), forKey: key)
    }

    func otherDeviceSnapshots() throws -> [Data] {
        store.keys.filter { $0.hasPrefix(SyncedUsageSnapshot.storeKey + ".") }
            .prefix(Self.deviceCount).compactMap { store.data(forKey: $0) }
    }

    var lastDelivery: Delivery { delivery.withLock { $0 } }

    /// One round trip with the daemon.
    func synchronize() async -> Delivery {
        let result = await roundTrip()
        delivery.withLock { $0 = result }
        return result
    }

    private func roundTrip() async -> Delivery {
        guard credentials != nil else { return .local }
        do throws(StoreError) {
            let report = try await store.synchronizeNow()
            return report.pendingKeyCount == 0
                ? .delivered : .waiting("the daemon has no room for it now")
        } catch {
            switch error.code {
            case .unauthorized, .refused: return .refused(error)
            default: return .waiting(error.reason)
            }
        }
    }

    /// Writes everything to disk and ends the connection.
    func close() { store.close() }
}
