import CommandSupport
import Foundation
import KVStore
import KVStoreHTTP
import SnapshotModels

/// Reads what the viewer shows. The only code of the viewer that knows the store.
struct UsageReader: Sendable {
    let store: UbiquitousKeyValueStore
    let now: @Sendable () -> Date

    /// Asked of the store each time, because an account may be joined or left while it is open.
    private var isJoined: Bool { store.configuration.transport != nil }

    func data(_ connection: StoreStatus.Connection) -> UsageData {
        var values: [String: Data] = [:]
        for key in store.keys where key.hasPrefix(SyncedUsageSnapshot.storeKey) {
            values[key] = store.data(forKey: key)
        }
        return UsageData(
            link: link(connection), stored: UsageData.Stored(values: values, now: now()))
    }

    private func link(_ connection: StoreStatus.Connection) -> UsageData.Link {
        guard isJoined else { return .notJoined }
        switch connection {
        case .connected, .idle: return .online
        case .local, .offline:
            let lastSync = store.status.lastSyncMilliseconds
            return .offline(
                lastSeen: lastSync.map { Date(timeIntervalSince1970: Double($0) / 1_000) })
        }
    }

    /// Synchronizes once, for at most `seconds`, and returns the resulting state of the connection.
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

    /// The state to show, now and after every change.
    func live() -> AsyncStream<UsageData> {
        UsageData.following(store.connectionChanges, store.changes) {
            data(store.status.connection)
        }
    }
}

extension UsageData.Stored {
    /// - Parameter values: the values of the shared key and of the devices' keys; others are ignored.
    init(values: [String: Data], now: Date) {
        let shared = values[SyncedUsageSnapshot.storeKey]
        let own = values.filter { $0.key.hasPrefix(SyncedUsageSnapshot.storeKey + ".") }
            .sorted { $0.key < $1.key }
            .compactMap { SnapshotCodec.read($0.value) }
        let snapshots = SnapshotMerge.devices(own: own, shared: SnapshotCodec.read(shared))
        if !snapshots.isEmpty {
            self = .usage(SnapshotMerge.merge(snapshots, now: now))
            return
        }
        do throws(SnapshotCodecError) {
            if let shared { _ = try SnapshotCodec.decode(shared) }
            self = .nothing
        } catch {
            self = .unreadable(reason: "\(error)")
        }
    }
}

extension UsageData {
    /// The result of `read`, now and after every event of two streams; finishes when both have. A slow consumer
    /// gets only the newest.
    ///
    /// Events only trigger a read. Reads do not overlap, and each begins after the event that triggered it, so the
    /// last value is the state after the last event.
    static func following<Connections: Sendable, Changes: Sendable>(
        _ connections: AsyncStream<Connections>, _ changes: AsyncStream<Changes>,
        read: @escaping @Sendable () async -> UsageData
    ) -> AsyncStream<UsageData> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: UsageData.self, bufferingPolicy: .bufferingNewest(1))
        let (triggers, trigger) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        trigger.yield()
        let following = Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await _ in triggers { continuation.yield(await read()) }
                }
                await withTaskGroup(of: Void.self) { events in
                    events.addTask { for await _ in connections { trigger.yield() } }
                    events.addTask { for await _ in changes { trigger.yield() } }
                }
                trigger.finish()
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in following.cancel() }
        return stream
    }
}
