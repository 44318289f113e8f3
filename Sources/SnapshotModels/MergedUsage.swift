public import Foundation

/// One view of what several devices know, and which device said what.
public struct MergedUsage: Sendable, Equatable {
    /// Ordered by provider id, then account; accounts without a name come last.
    public var providers: [MergedProvider]
    /// Ordered by name, then id. Devices that report no provider are here too.
    public var devices: [MergedDevice]
    /// The newest time at which a device built its snapshot; nil without devices.
    public var syncTimestamp: Date?

    /// The view as one snapshot: what a pusher writes under `SyncedUsageSnapshot.storeKey`.
    ///
    /// `deviceName` joins the names with ", "; `deviceID` is set only for a single device, which is
    /// how a reader tells a merged view from a device's own snapshot. nil without devices.
    public var snapshot: SyncedUsageSnapshot? {
        guard let syncTimestamp else { return nil }
        let only = devices.count == 1 ? devices[0] : nil
        return SyncedUsageSnapshot(
            providers: providers.map(\.snapshot),
            syncTimestamp: syncTimestamp,
            deviceName: devices.map(\.name).joined(separator: ", "),
            deviceID: only?.deviceID,
            appVersion: only?.appVersion)
    }
}

/// One device that took part in a merge.
public struct MergedDevice: Sendable, Equatable {
    public var deviceID: String?
    public var name: String
    /// When the device built its snapshot, by its own clock.
    public var syncTimestamp: Date
    public var appVersion: String?
    /// How many provider accounts it reports.
    public var providerCount: Int
}

/// One provider account, merged over devices.
public struct MergedProvider: Sendable, Equatable {
    /// `lastUpdated` is the time of the reading that the windows come from.
    public var snapshot: ProviderUsageSnapshot
    /// Each device's part, ordered as `MergedUsage.devices`.
    public var parts: [ProviderPart]
}

/// What one device contributes to a provider account.
public struct ProviderPart: Sendable, Equatable {
    public var deviceID: String?
    public var deviceName: String
    public var lastUpdated: Date
    /// When the device built the snapshot that this part is from.
    public var syncTimestamp: Date
    /// True for the one part that the windows come from.
    public var suppliesWindows: Bool
    /// The device's own costs, before summing.
    public var costSummary: SyncCostSummary?
}
