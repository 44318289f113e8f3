import Foundation
import SnapshotModels

extension ViewModel.Stored {
    /// What the values under the snapshot keys amount to. `values` holds the shared key and the devices'
    /// keys; others are ignored.
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
