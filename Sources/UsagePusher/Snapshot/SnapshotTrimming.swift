import Foundation
import SnapshotModels

/// Makes a snapshot fit: details go first, limits and resets last.
enum SnapshotTrimming {
    /// The bytes of the snapshot, with as little left out as `byteCount` asks for. What does not
    /// fit even without all details is encoded as it is, for the store to judge.
    static func encode(
        _ snapshot: SyncedUsageSnapshot, byteCount: Int
    ) throws(SnapshotCodecError) -> Data {
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
            let days = provider.costSummary?.daily?.map { day in
                SyncDailyCost(
                    dayKey: day.dayKey, costUSD: day.costUSD, totalTokens: day.totalTokens)
            }
            provider.costSummary?.daily = days
        },
        { $0.costSummary?.daily = nil },
        { $0.statusMessage = $0.statusMessage.map { String($0.prefix(80)) } },
    ]
}
