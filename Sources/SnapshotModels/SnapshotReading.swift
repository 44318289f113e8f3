import Foundation

/// A snapshot as it was read, and what had to be left out of it.
///
/// Only three things make a document unreadable as a whole: it is not a JSON object, it has no
/// `providers` list, or it has no readable `syncTimestamp`. One bad provider or window never
/// costs the others.
public struct SnapshotReading: Sendable, Equatable {
    public let snapshot: SyncedUsageSnapshot
    /// Entries of `providers` that could not be read or were beyond the limit.
    public let skippedProviders: Int
    /// Windows, over all providers that were read, that could not be read.
    public let skippedWindows: Int
}

extension SnapshotReading: Decodable {
    private enum LegacyKeys: String, CodingKey {
        /// The name of `mobileVersion` until March 2026. Read for ever, never written.
        case syncVersion
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: SyncedUsageSnapshot.CodingKeys.self)
        let legacy = try decoder.container(keyedBy: LegacyKeys.self)
        guard let syncTimestamp = fields.date(.syncTimestamp) else {
            throw DecodingError.dataCorruptedError(
                forKey: .syncTimestamp, in: fields, debugDescription: "no readable date")
        }
        let providers = try fields.decode(LossyList<ProviderReading>.self, forKey: .providers)
            .limited(to: SnapshotLimits.providers)
        skippedProviders = providers.skipped
        skippedWindows = providers.elements.reduce(0) { $0 + $1.skippedWindows }
        snapshot = SyncedUsageSnapshot(
            providers: providers.elements.map(\.provider),
            syncTimestamp: syncTimestamp,
            deviceName: fields.text(.deviceName) ?? "unknown device",
            deviceID: fields.text(.deviceID),
            appVersion: fields.text(.appVersion),
            mobileVersion: fields.text(.mobileVersion) ?? legacy.text(.syncVersion))
    }
}

extension SyncedUsageSnapshot {
    enum CodingKeys: String, CodingKey {
        case providers, syncTimestamp, deviceName, deviceID, appVersion, mobileVersion
    }

    /// Lenient, see `SnapshotReading`.
    public init(from decoder: any Decoder) throws {
        self = try SnapshotReading(from: decoder).snapshot
    }
}
