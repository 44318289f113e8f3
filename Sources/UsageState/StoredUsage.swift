package import Essentials
import SnapshotModels

extension UsageData {
    /// - Parameter values: the values under the keys of `isKey`; others are ignored.
    package init(link: Link, values: [String: Data], now: Date) {
        let stored = Stored(values: values, now: now)
        var history = UsageHistory(values: values, now: now)
        let usage =
            if case .usage(let usage) = stored { usage.providers } else { [MergedProvider]() }
        history.add(usage.map(\.snapshot), now: now)
        self.init(link: link, stored: stored, history: history)
    }

    /// Whether the value under a key is read.
    package static func isKey(_ key: String) -> Bool {
        key.hasPrefix(SyncedUsageSnapshot.storeKey) || key.hasPrefix(UsageHistory.storeKeyPrefix)
    }
}

extension UsageData.Stored {
    /// - Parameter values: the values of the shared key and of the devices' keys; others are ignored.
    package init(values: [String: Data], now: Date) {
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
