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
        return await withTaskGroup(of: StoreStatus.Connection.self) { group in
            group.addTask {
                do throws(StoreError) {
                    _ = try await store.synchronizeNow()
                    return .idle
                } catch {
                    return .offline(error.description)
                }
            }
            group.addTask {
                // The store's own wait ends when it is closed, so this one may be left behind.
                try? await Task.sleep(for: .seconds(seconds))
                if !Task.isCancelled { store.close() }
                return .offline("no answer within \(Int(seconds.rounded(.up))) s")
            }
            let first = await group.next() ?? store.status.connection
            group.cancelAll()
            return first
        }
    }

    /// The state to show, now and whenever it changes.
    func live() -> AsyncStream<LiveData> {
        LiveData.following(store.connectionChanges, store.changes) {
            data(store.status.connection)
        }
    }
}
