import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Visible differences")
struct PlanDifferenceTests {
    private static let date = Date(timeIntervalSince1970: 1_789_732_800)

    private static let base: SyncedUsageSnapshot = {
        let session = SyncRateWindow(usedPercent: 36, windowMinutes: 300, resetsAt: date + 8_100)
        let weekly = SyncRateWindow(usedPercent: 0, windowMinutes: 10_080)
        let provider = ProviderUsageSnapshot(
            providerID: "claude", providerName: "Claude", primary: session, secondary: weekly,
            accountEmail: "dev@example.test", lastUpdated: date, rateWindows: [session, weekly],
            costSummary: SyncCostSummary(
                sessionCostUSD: 1.2, sessionTokens: 1_234_567,
                daily: [SyncDailyCost(dayKey: "2026-09-18", costUSD: 1.2)]),
            credits: SyncCredits(balance: 128.5))
        return SyncedUsageSnapshot(providers: [provider], syncTimestamp: date, deviceName: "here", deviceID: "1")
    }()

    private func looksDifferent(_ change: (inout SyncedUsageSnapshot) -> Void) -> Bool {
        var copy = Self.base
        change(&copy)
        return copy.looksDifferent(from: Self.base)
    }

    @Test("the build time of a snapshot is not a difference")
    func buildTime() {
        #expect(!looksDifferent { _ in })
        #expect(!looksDifferent { $0.syncTimestamp += 86_400 })
    }

    @Test("an observation time differs from a minute on, in both directions")
    func observation() {
        #expect(!looksDifferent { $0.providers[0].lastUpdated += 59 })
        #expect(looksDifferent { $0.providers[0].lastUpdated += 60 })
        #expect(looksDifferent { $0.providers[0].lastUpdated -= 60 })
    }

    @Test("percents differ from a tenth on, and on reaching 0 or 100")
    func percents() {
        #expect(!looksDifferent { $0.providers[0].primary?.usedPercent = 36.04 })
        #expect(looksDifferent { $0.providers[0].primary?.usedPercent = 36.2 })
        #expect(looksDifferent { $0.providers[0].rateWindows?[0].usedPercent = 37 })
        #expect(looksDifferent { $0.providers[0].secondary?.usedPercent = 0.01 })
        var almost = Self.base
        almost.providers[0].primary?.usedPercent = 99.95
        var full = almost
        full.providers[0].primary?.usedPercent = 100
        #expect(full.looksDifferent(from: almost))
    }

    @Test("a reset recomputed to within seconds is the same")
    func resets() {
        #expect(!looksDifferent { $0.providers[0].primary?.resetsAt = Self.date + 8_102 })
        #expect(looksDifferent { $0.providers[0].primary?.resetsAt = Self.date + 18_000 })
        #expect(looksDifferent { $0.providers[0].primary?.resetsAt = nil })
        #expect(looksDifferent { $0.providers[0].secondary?.resetsAt = Self.date })
    }

    @Test("costs differ in any amount, credits from a cent on")
    func costs() {
        #expect(looksDifferent { $0.providers[0].costSummary?.sessionCostUSD = 1.21 })
        #expect(!looksDifferent { $0.providers[0].credits?.balance = 128.504 })
        #expect(looksDifferent { $0.providers[0].costSummary?.sessionTokens = 1_300_000 })
        #expect(looksDifferent { $0.providers[0].costSummary?.sessionTokens = .max })
        #expect(looksDifferent { $0.providers[0].costSummary?.daily?[0].costUSD = 2 })
        #expect(looksDifferent { $0.providers[0].costSummary?.daily = [] })
        #expect(looksDifferent { $0.providers[0].credits?.balance = 128.4 })
        #expect(looksDifferent { $0.providers[0].credits = nil })
    }

    @Test("texts, states, windows and providers differ in any way")
    func others() {
        #expect(looksDifferent { $0.deviceName = "there" })
        #expect(looksDifferent { $0.providers[0].accountEmail = nil })
        #expect(looksDifferent { $0.providers[0].isError = true })
        #expect(looksDifferent { $0.providers[0].statusMessage = "limit reached" })
        #expect(looksDifferent { _ = $0.providers[0].rateWindows?.popLast() })
        #expect(looksDifferent { $0.providers.removeAll() })
        #expect(looksDifferent { $0.providers.append($0.providers[0]) })
    }

    @Test("small steps add up to a visible difference")
    func drift() {
        var percent = 36.0
        var steps = 0
        repeat {
            percent += 0.02
            steps += 1
        } while !looksDifferent { $0.providers[0].primary?.usedPercent = percent }
        #expect((5...6).contains(steps))
    }
}
