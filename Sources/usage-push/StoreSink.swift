import CommandSupport
import Foundation
import KVStore
import KVStoreHTTP
import SnapshotModels
import UsagePusher

/// The user's store as the sink of a pusher.
///
/// What is put is durable locally before the call returns. A live store syncs it at once, another
/// one in `synchronize`.
final class StoreSink: SnapshotSink {
    enum Delivery: Sendable {
        /// No account has been joined: the snapshot stays on this machine.
        case local
        case delivered
        /// The daemon did not answer, or is out of space; it receives the snapshot later.
        case waiting(String)
        /// The daemon rejects this machine.
        case refused(StoreError)

        /// Completes the line about a push.
        var remark: String {
            switch self {
            case .local: ", on this machine only (to share it, run: kvs join)"
            case .delivered, .refused: ""
            case .waiting(let reason): ", stored locally until the daemon is reachable: \(reason)"
            }
        }
    }

    let store: UbiquitousKeyValueStore
    /// The credentials that the store was opened with; nil without an account.
    let credentials: Credentials?

    /// Other devices whose snapshots are merged.
    private static let deviceLimit = 64
    /// A single push does not keep the user waiting.
    private static let timeouts = HTTPTimeouts(connect: .seconds(3), request: .seconds(10))

    /// Opens the store; repairs are reported on standard error.
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
            .prefix(Self.deviceLimit).compactMap { store.data(forKey: $0) }
    }

    /// Exchanges changes with the daemon once.
    func synchronize() async -> Delivery {
        guard credentials != nil else { return .local }
        do throws(StoreError) {
            let report = try await store.synchronizeNow()
            return report.pendingKeyCount == 0 ? .delivered : .waiting("the daemon is out of space")
        } catch {
            switch error.code {
            case .unauthorized, .refused: return .refused(error)
            default: return .waiting(error.reason)
            }
        }
    }

    /// Flushes everything and disconnects.
    func close() { store.close() }
}
