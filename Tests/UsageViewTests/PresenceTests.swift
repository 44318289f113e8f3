import Foundation
import SnapshotModels
import Testing
import UsageState

@testable import usage_view

@Suite("Freshness and presence")
struct PresenceTests {
    func presence(secondsAgo: Double, isOnline: Bool = true) -> DeviceState.Presence {
        let snapshot = SyncedUsageSnapshot(
            providers: [], syncTimestamp: Sample.now.addingTimeInterval(-secondsAgo), deviceName: "box", deviceID: "id")
        let device = SnapshotMerge.merge([snapshot], now: Sample.now).devices[0]
        return DeviceState(device, isOnline: isOnline, now: Sample.now).presence
    }

    @Test("a device is active for five minutes after a push, then stale")
    func devices() {
        #expect(presence(secondsAgo: 299) == .active)
        #expect(presence(secondsAgo: 300) == .stale)
        #expect(presence(secondsAgo: -60) == .active)
        #expect(presence(secondsAgo: -61) == .clockAhead)
    }

    @Test("an offline viewer does not call another device stale")
    func offline() {
        #expect(presence(secondsAgo: 9_000, isOnline: false) == .unknown)
        #expect(presence(secondsAgo: 10, isOnline: false) == .active)
    }

    @Test("numbers are fresh, cached, stale or from a wrong clock")
    func freshness() {
        func freshness(_ observed: Double, pushed: Double? = 0) -> Freshness {
            Freshness.byTime(
                observedAt: Sample.now.addingTimeInterval(-observed),
                pushedAt: pushed.map { Sample.now.addingTimeInterval(-$0) }
            ).value(at: Sample.now)
        }
        #expect(freshness(300) == .fresh)
        #expect(freshness(301) == .cached)
        #expect(freshness(3_600, pushed: 3_600) == .fresh)
        #expect(freshness(3_601, pushed: 3_601) == .stale)
        #expect(freshness(-60) == .fresh)
        #expect(freshness(-61) == .clockAhead)
        #expect(freshness(3_600, pushed: nil) == .fresh)
    }
}
