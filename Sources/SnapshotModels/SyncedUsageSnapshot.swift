public import Foundation

/// Everything one device (or the merge of several) knows, as stored under `storeKey`.
public struct SyncedUsageSnapshot: Codable, Sendable, Equatable {
    public var providers: [ProviderUsageSnapshot]
    /// When this snapshot was built.
    public var syncTimestamp: Date
    public var deviceName: String
    /// The UUID of the device that built it.
    public var deviceID: String?
    public var appVersion: String?
    /// Read also from the older name `syncVersion`, which is never written.
    public var mobileVersion: String?

    public init(
        providers: [ProviderUsageSnapshot], syncTimestamp: Date, deviceName: String,
        deviceID: String? = nil, appVersion: String? = nil, mobileVersion: String? = nil
    ) {
        self.providers = providers
        self.syncTimestamp = syncTimestamp
        self.deviceName = deviceName
        self.deviceID = deviceID
        self.appVersion = appVersion
        self.mobileVersion = mobileVersion
    }

    /// The key that existing readers know.
    public static let storeKey = "com.codexbar.usage.snapshot"

    /// The key of one device's own snapshot: `storeKey`, a dot and the device's UUID (64 bytes).
    public static func storeKey(deviceID: String) -> String { storeKey + "." + deviceID }
}
