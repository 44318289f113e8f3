public import Essentials

/// The merged view of several devices, and each device's part in it.
///
/// For an example see `SnapshotMerge`.
public struct MergedUsage: Sendable, Equatable {
    /// Ordered by provider id, then account; accounts without a name come last.
    public var providers: [MergedProvider]
    /// Ordered by name, then id. Devices that report no provider are here too.
    public var devices: [MergedDevice]
    /// When the newest of the snapshots was built; nil without devices.
    public var syncTimestamp: Date?

    /// The view as one snapshot: what a pusher writes under `SyncedUsageSnapshot.storeKey`.
    ///
    /// Nil without devices. `deviceName` joins the names with ", "; `deviceID` is set only for a
    /// single device, which distinguishes a merged view from a device's own snapshot.
    public var snapshot: SyncedUsageSnapshot? {
        guard let syncTimestamp else { return nil }
        let only = devices.count == 1 ? devices[0] : nil
        return SyncedUsageSnapshot(
            providers: providers.map(\.snapshot),
            syncTimestamp: syncTimestamp,
            deviceName: devices.map(\.name).joined(separator: ", "),
            deviceID: only?.deviceID,
            appVersion: only?.appVersion, daemonDeviceID: only?.daemonDeviceID)
    }
}

/// One device that took part in a merge.
///
/// For an example see `SnapshotMerge`.
public struct MergedDevice: Sendable, Equatable {
    public var deviceID: String?
    public var name: String
    /// When the device built its snapshot, by its own clock.
    public var syncTimestamp: Date
    public var appVersion: String?
    /// See `SyncedUsageSnapshot`.
    public var daemonDeviceID: String?
}

/// One provider account, merged over devices.
///
/// For an example see `SnapshotMerge`.
public struct MergedProvider: Sendable, Equatable {
    /// `lastUpdated` is the time of the reading that the windows come from.
    public var snapshot: ProviderUsageSnapshot
    /// Each device's part, ordered as `MergedUsage.devices`.
    public var parts: [ProviderPart]
}

/// One device's part in a provider account.
///
/// For an example see `SnapshotMerge`.
public struct ProviderPart: Sendable, Equatable {
    public var deviceID: String?
    public var deviceName: String
    /// The account as the device names it, in the form in which names are compared; nil without one.
    package var account: String?
    public var lastUpdated: Date
    /// When the device built the snapshot that this part is from.
    public var syncTimestamp: Date
    /// Whether the windows come from this part; true for exactly one.
    public var suppliesWindows: Bool
    /// The device's own costs, before summing.
    public var costSummary: SyncCostSummary?
}
