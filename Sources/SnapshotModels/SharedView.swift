package import Essentials

/// The view of all devices under the key that every reader knows. It has many writers, each of which writes the same
/// view.
package enum SharedView {
    /// Seconds without a push after which a device is left out.
    private static let deviceAgeLimit: TimeInterval = 7 * 86_400
    /// A size from which details are left out. All values of a store share one mebibyte.
    private static let byteCount = 384 * 1_024

    /// Whether the device that pushed this is in the view.
    package static func includes(_ snapshot: SyncedUsageSnapshot, now: Date) -> Bool {
        now.timeIntervalSince(snapshot.syncTimestamp) < deviceAgeLimit
    }

    /// The value of the key; nil without devices.
    package static func encode(_ devices: [SyncedUsageSnapshot], now: Date) throws(SnapshotCodecError) -> Data? {
        let merged = SnapshotMerge.merge(devices.filter { includes($0, now: now) }, now: now)
        guard let view = merged.snapshot else { return nil }
        return try SnapshotTrimming.encode(view, byteCount: byteCount)
    }
}
