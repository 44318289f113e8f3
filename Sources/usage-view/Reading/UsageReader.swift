import CommandSupport
import Foundation
import KVStore
import KVStoreHTTP
import SnapshotModels

/// Reads what the viewer shows from a store. The only place where the viewer meets the store.
struct UsageReader: Sendable {
    let store: UbiquitousKeyValueStore
    let now: @Sendable () -> Date

    /// Whether the store is one of an account. Asked of the store, since an account may be joined or left while it
    /// is open.
    private var isJoined: Bool { store.configuration.transport != nil }

    func data(_ connection: StoreStatus.Connection) -> LiveData {
        LiveData(
            link: link(connection), stored: ViewModel.Stored(values: values, now: now()))
    }

    private var values: [String: Data] {
        var values: [String: Data] = [:]
        for key in store.keys where key.hasPrefix(SyncedUsageSnapshot.storeKey) {
            values[key] = store.data(forKey: key)
        }
        return values
    }

    private func link(_ connection: StoreStatus.Connection) -> ViewModel.Link {
        guard isJoined else { return .notJoined }
        switch connection {
        case .connected, .idle: return .online
        case .local, .offline:
            return .offline(
                lastSeen: store.status.lastSyncMilliseconds.map {
                    Date(timeIntervalSince1970: Double($0) / 1_000)
                })
        }
    }

    /// One round trip, given up after `seconds`. Returns the connection's state as it then is.
    func refresh(within seconds: Double) async -> StoreStatus.Connection {
        guard isJoined, seconds > 0 else { return store.status.connection }
        do throws(StoreError) {
            let report = try await withDeadline(.seconds(seconds)) { () throws(StoreError) in
                try await store.synchronizeNow()
            }
            return report == nil
                ? .offline("no answer within \(Int(seconds.rounded(.up))) s") : .idle
        } catch {
            return .offline(error.description)
        }
    }

    /// The state to show, now and whenever it changes.
    func live() -> AsyncStream<LiveData> {
        LiveData.following(store.connectionChanges, store.changes) {
            data(store.status.connection)
        }
    }
}
