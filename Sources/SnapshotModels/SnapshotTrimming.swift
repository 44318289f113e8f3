package import Essentials

/// Makes a snapshot fit by leaving out cost details first, then shortening status texts.
package enum SnapshotTrimming {
    /// Encodes the snapshot with as little left out as `byteCount` requires. A snapshot that is too
    /// large even without details is encoded all the same: the store decides.
    package static func encode(_ snapshot: SyncedUsageSnapshot, byteCount: Int) throws(SnapshotCodecError) -> Data {
        var trimmed = snapshot
        var data = try SnapshotCodec.encode(trimmed)
        for step in steps where data.count > byteCount {
            for index in trimmed.providers.indices { step(&trimmed.providers[index]) }
            data = try SnapshotCodec.encode(trimmed)
        }
        return data
    }

    private static let steps: [@Sendable (inout ProviderUsageSnapshot) -> Void] = [
        { provider in
            let days = provider.costSummary?.daily?.map {
                SyncDailyCost(
                    dayKey: $0.dayKey, costUSD: $0.costUSD, totalTokens: $0.totalTokens,
                    unpricedTokens: $0.unpricedTokens)
            }
            provider.costSummary?.daily = days
        },
        { $0.costSummary?.hourly = nil },
        { $0.costSummary?.daily = nil },
        { $0.statusMessage = $0.statusMessage.map { String($0.prefix(80)) } },
    ]
}
