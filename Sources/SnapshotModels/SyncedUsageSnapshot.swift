// The usage payload: its structures, the codec that CodexBar's readers understand, and the merge of several devices.
// Not here: where readings come from (UsagePusher) and how they are drawn (usage-view).

public import Essentials

/// The limits that one device knows, or the merge of several, as stored under `storeKey`.
///
/// ```swift
/// let window = SyncRateWindow(usedPercent: 42, windowMinutes: 300, resetsAt: now.addingTimeInterval(3_600))
/// let claude = ProviderUsageSnapshot(
///     providerID: "claude", providerName: "Claude", primary: window, lastUpdated: now)
/// let snapshot = SyncedUsageSnapshot(providers: [claude], syncTimestamp: now, deviceName: "desk")
/// ```
public struct SyncedUsageSnapshot: Codable, Sendable, Equatable {
    public var providers: [ProviderUsageSnapshot]
    /// When this snapshot was built.
    public var syncTimestamp: Date
    public var deviceName: String
    /// The UUID of the device that built it.
    public var deviceID: String?
    public var appVersion: String?
    /// Also decoded from its former name `syncVersion`, which is never written.
    public var mobileVersion: String?
    /// The id that the daemon gave the device when it joined, which `GET /v1/devices` lists; it is no secret. Nil for a
    /// device that has not joined, and in what writers before November 2026 wrote. Other readers ignore it.
    public var daemonDeviceID: String?

    public init(
        providers: [ProviderUsageSnapshot], syncTimestamp: Date, deviceName: String, deviceID: String? = nil,
        appVersion: String? = nil, mobileVersion: String? = nil, daemonDeviceID: String? = nil
    ) {
        self.providers = providers
        self.syncTimestamp = syncTimestamp
        self.deviceName = deviceName
        self.deviceID = deviceID
        self.appVersion = appVersion
        self.mobileVersion = mobileVersion
        self.daemonDeviceID = daemonDeviceID
    }

    /// The key that all readers know.
    public static let storeKey = "com.codexbar.usage.snapshot"

    /// The key of one device's own snapshot: `storeKey`, a dot and the device's UUID (64 bytes).
    public static func storeKey(deviceID: String) -> String { storeKey + "." + deviceID }
}

/// A snapshot as decoded, and how much of it had to be left out.
///
/// A document is unreadable as a whole only when it is not a JSON object, has no `providers` list or
/// no readable `syncTimestamp`. One bad provider or window does not affect the others.
///
/// For an example see `SnapshotCodec`.
public struct SnapshotReading: Sendable, Equatable {
    public let snapshot: SyncedUsageSnapshot
    /// Unreadable entries of `providers`, and those beyond the limit.
    public let skippedProviders: Int
    /// Unreadable windows of the decoded providers, and those beyond the limit.
    public let skippedWindows: Int
}

extension SnapshotReading: Decodable {
    private enum LegacyKeys: String, CodingKey {
        /// The name of `mobileVersion` until March 2026.
        case syncVersion
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: SyncedUsageSnapshot.CodingKeys.self)
        let legacy = try decoder.container(keyedBy: LegacyKeys.self)
        let syncTimestamp = try fields.required(.syncTimestamp, fields.date(.syncTimestamp))
        let providers = try fields.decode(LossyList<ProviderUsageSnapshot.Reading>.self, forKey: .providers)
            .limited(to: SnapshotLimits.providers)
        skippedProviders = providers.skipped
        skippedWindows = providers.elements.reduce(0) { $0 + $1.skippedWindows }
        snapshot = SyncedUsageSnapshot(
            providers: providers.elements.map(\.provider),
            syncTimestamp: syncTimestamp,
            deviceName: fields.text(.deviceName) ?? "unknown device",
            deviceID: fields.text(.deviceID),
            appVersion: fields.text(.appVersion),
            mobileVersion: fields.text(.mobileVersion) ?? legacy.text(.syncVersion),
            daemonDeviceID: fields.text(.daemonDeviceID))
    }
}

extension SyncedUsageSnapshot {
    enum CodingKeys: String, CodingKey {
        case providers, syncTimestamp, deviceName, deviceID, appVersion, mobileVersion
        case daemonDeviceID
    }

    /// Lenient, see `SnapshotReading`.
    public init(from decoder: any Decoder) throws {
        self = try SnapshotReading(from: decoder).snapshot
    }
}
