import Foundation

extension ProviderUsageSnapshot {
    enum CodingKeys: String, CodingKey {
        case providerID, providerName, primary, secondary, accountEmail, loginMethod
        case statusMessage, isError, lastUpdated, rateWindows, costSummary, budget, credits
        case usageDataConfidence
    }

    /// Throws when the provider has no id or no readable `lastUpdated`: a number without the time
    /// of its observation cannot be trusted. An unreadable window is left out.
    public init(from decoder: any Decoder) throws {
        self = try ProviderReading(from: decoder).provider
    }
}

/// A provider as read, and how many of its windows were left out.
struct ProviderReading: Decodable {
    let provider: ProviderUsageSnapshot
    let skippedWindows: Int

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: ProviderUsageSnapshot.CodingKeys.self)
        let providerID = try fields.decode(String.self, forKey: .providerID)
        guard !providerID.isEmpty else {
            throw DecodingError.dataCorruptedError(
                forKey: .providerID, in: fields, debugDescription: "empty")
        }
        guard let lastUpdated = fields.date(.lastUpdated) else {
            throw DecodingError.dataCorruptedError(
                forKey: .lastUpdated, in: fields, debugDescription: "no readable date")
        }
        let primary: SyncRateWindow? = fields.value(.primary)
        let secondary: SyncRateWindow? = fields.value(.secondary)
        let rateWindows: LossyList<SyncRateWindow>? = fields.list(
            .rateWindows, limit: SnapshotLimits.windowsPerProvider)
        var skipped = rateWindows?.skipped ?? 0
        if primary == nil, fields.holdsValue(.primary) { skipped += 1 }
        if secondary == nil, fields.holdsValue(.secondary) { skipped += 1 }

        skippedWindows = skipped
        provider = ProviderUsageSnapshot(
            providerID: providerID,
            providerName: fields.text(.providerName) ?? providerID,
            primary: primary,
            secondary: secondary,
            accountEmail: fields.text(.accountEmail),
            loginMethod: fields.text(.loginMethod),
            statusMessage: fields.text(.statusMessage),
            isError: fields.flag(.isError) ?? false,
            lastUpdated: lastUpdated,
            rateWindows: rateWindows?.elements,
            costSummary: fields.value(.costSummary),
            budget: fields.value(.budget),
            credits: fields.value(.credits),
            usageDataConfidence: fields.text(.usageDataConfidence))
    }
}
