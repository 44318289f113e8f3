package import Essentials
package import SnapshotModels

/// The decoded values of a store, for those who ask about more than one time.
package struct StoredUsage: Sendable {
    private let snapshots: [SyncedUsageSnapshot]
    /// Why there are none although there is a value.
    private let unreadableReason: String?
    private let histories: [UsageHistory]

    /// - Parameters:
    ///   - values: the values under the keys of `UsageData.isKey`; others are ignored.
    ///   - decode: how a snapshot is decoded.
    package init(
        values: [String: Data],
        decode: (Data) throws(SnapshotCodecError) -> SyncedUsageSnapshot = SnapshotCodec.decode
    ) {
        let shared = values[SyncedUsageSnapshot.storeKey]
        let own = values.filter { $0.key.hasPrefix(SyncedUsageSnapshot.storeKey + ".") }
            .sorted { $0.key < $1.key }
            .compactMap { try? decode($0.value) }
        snapshots = SnapshotMerge.devices(own: own, shared: shared.flatMap { try? decode($0) })
        var reason: String?
        if snapshots.isEmpty, let shared {
            do throws(SnapshotCodecError) { _ = try decode(shared) } catch {
                reason = "\(error)"
            }
        }
        unreadableReason = reason
        histories = UsageHistory.devices(in: values)
    }

    /// - Parameter names: what devices are called now, by the id that the daemon gave them.
    package func data(
        link: UsageData.Link, at now: Date, names: [String: String] = [:]
    ) -> UsageData {
        var history = UsageHistory(merging: histories, now: now)
        guard !snapshots.isEmpty else {
            let stored = unreadableReason.map { UsageData.Stored.unreadable(reason: $0) }
            return UsageData(link: link, stored: stored ?? .nothing, history: history)
        }
        let named = snapshots.map { snapshot in
            var snapshot = snapshot
            if let name = snapshot.daemonDeviceID.flatMap({ names[$0] }) {
                snapshot.deviceName = name
            }
            return snapshot
        }
        let usage = SnapshotMerge.merge(named, now: now)
        history.add(usage.providers.map(\.snapshot), now: now)
        return UsageData(link: link, stored: .usage(usage), history: history)
    }
}

extension UsageData {
    /// The parameters are those of `StoredUsage`.
    package init(
        link: Link, values: [String: Data], now: Date, names: [String: String] = [:]
    ) {
        self = StoredUsage(values: values).data(link: link, at: now, names: names)
    }

    /// The devices that push.
    package func devices(at now: Date) -> [DeviceState] {
        (usage?.devices ?? []).map { DeviceState($0, isOnline: link == .online, now: now) }
    }

    /// Whether the value under a key is read.
    package static func isKey(_ key: String) -> Bool {
        key.hasPrefix(SyncedUsageSnapshot.storeKey) || key.hasPrefix(UsageHistory.storeKeyPrefix)
    }
}
