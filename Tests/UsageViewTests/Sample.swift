import ClockZones
import Foundation
import SnapshotModels
import StoreTestSupport
import UsageState

@testable import usage_view

/// Models from the documents under fixtures/snapshot, at one time and in one zone.
enum Sample {
    /// 2026-09-18T12:00:00Z, a Friday.
    static let now = Date(timeIntervalSince1970: 1_789_732_800)

    static func model(
        _ documents: String..., link: UsageData.Link = .online, minutesLater: Double = 0, options: ViewOptions = .init()
    ) throws -> ViewModel {
        let now = now.addingTimeInterval(minutesLater * 60)
        let snapshots = try documents.map { try SnapshotCodec.decode(Repository.data("fixtures/snapshot/\($0).json")) }
        return ViewModel(
            data: UsageData(link: link, stored: .usage(SnapshotMerge.merge(snapshots, now: now))),
            now: now, zone: .fixed(secondsFromGMT: 0), options: options)
    }

    static func model(stored: UsageData.Stored, link: UsageData.Link = .online) -> ViewModel {
        ViewModel(data: UsageData(link: link, stored: stored), now: now, zone: .fixed(secondsFromGMT: 0))
    }

    static func provider(_ windows: [SyncRateWindow], observedMinutesAgo: Double = 0) -> ProviderState {
        let provider = ProviderUsageSnapshot(
            providerID: "x", providerName: "X",
            lastUpdated: now.addingTimeInterval(-observedMinutesAgo * 60), rateWindows: windows)
        let snapshot = SyncedUsageSnapshot(providers: [provider], syncTimestamp: now, deviceName: "box")
        return ProviderState(
            SnapshotMerge.merge([snapshot], now: now).providers[0], now: now, zone: .fixed(secondsFromGMT: 0))
    }
}
