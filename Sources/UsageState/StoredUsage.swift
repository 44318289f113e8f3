package import Essentials
package import SnapshotModels

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
    /// - Parameters:
    ///   - values: the values of the shared key and of the devices' keys; others are ignored.
    ///   - decode: how a snapshot is decoded.
    package init(
        values: [String: Data], now: Date,
        decode: (Data) throws(SnapshotCodecError) -> SyncedUsageSnapshot = SnapshotCodec.decode
    ) {
        let shared = values[SyncedUsageSnapshot.storeKey]
        let own = values.filter { $0.key.hasPrefix(SyncedUsageSnapshot.storeKey + ".") }
            .sorted { $0.key < $1.key }
            .compactMap { try? decode($0.value) }
        let snapshots = SnapshotMerge.devices(own: own, shared: shared.flatMap { try? decode($0) })
        if !snapshots.isEmpty {
            self = .usage(SnapshotMerge.merge(snapshots, now: now))
            return
        }
        do throws(SnapshotCodecError) {
            if let shared { _ = try decode(shared) }
            self = .nothing
        } catch {
            self = .unreadable(reason: "\(error)")
        }
    }
}
