package import Essentials
import SnapshotModels

/// The decoded snapshots of a store, for those who ask about more than one time.
package struct StoredSnapshots: Sendable {
    private let snapshots: [SyncedUsageSnapshot]
    /// Why there are none although there is a value.
    private let unreadableReason: String?

    /// - Parameter values: the values of the shared key and of the devices' keys; others are ignored.
    package init(values: [String: Data]) {
        let shared = values[SyncedUsageSnapshot.storeKey]
        let own = values.filter { $0.key.hasPrefix(SyncedUsageSnapshot.storeKey + ".") }
            .sorted { $0.key < $1.key }
            .compactMap { SnapshotCodec.read($0.value) }
        snapshots = SnapshotMerge.devices(own: own, shared: SnapshotCodec.read(shared))
        var reason: String?
        if snapshots.isEmpty, let shared {
            do throws(SnapshotCodecError) { _ = try SnapshotCodec.decode(shared) } catch {
                reason = "\(error)"
            }
        }
        unreadableReason = reason
    }

    package func usage(at now: Date) -> UsageData.Stored {
        if !snapshots.isEmpty { return .usage(SnapshotMerge.merge(snapshots, now: now)) }
        return unreadableReason.map { .unreadable(reason: $0) } ?? .nothing
    }
}

extension UsageData.Stored {
    /// - Parameter values: as for `StoredSnapshots`.
    package init(values: [String: Data], now: Date) {
        self = StoredSnapshots(values: values).usage(at: now)
    }
}
