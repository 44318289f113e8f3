import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Bounds of a snapshot")
struct SnapshotBoundsTests {
    private let session = SyncRateWindow(usedPercent: 36, windowMinutes: 299)
    private let weekly = SyncRateWindow(usedPercent: 55, windowMinutes: 10_079)
    private let other = SyncRateWindow(usedPercent: 53, windowMinutes: 10_080, label: "Fable")

    private func bounded(_ change: (inout ProviderUsageSnapshot) -> Void) -> ProviderUsageSnapshot {
        var provider = ProviderUsageSnapshot(providerID: "codex", providerName: "Codex", lastUpdated: testNow)
        change(&provider)
        return SnapshotBounds.bounded(provider, at: testNow)
    }

    @Test("a list of windows is repeated as primary and secondary")
    func listed() {
        let both = bounded { $0.rateWindows = [session, weekly, other] }
        #expect(both.primary == session)
        #expect(both.secondary == weekly)
        #expect(both.rateWindows == [session, weekly, other])
        let lone = bounded { $0.rateWindows = [weekly] }
        #expect(lone.primary == nil)
        #expect(lone.secondary == weekly)
        #expect(lone.rateWindows == [weekly])
        let reversed = bounded { $0.rateWindows = [weekly, session] }
        #expect(reversed.rateWindows == [session, weekly])
    }

    @Test("two windows become a list, and a source's own choice stays")
    func placed() {
        let two = bounded {
            $0.primary = session
            $0.secondary = weekly
        }
        #expect(two.rateWindows == [session, weekly])
        let own = bounded {
            $0.primary = weekly
            $0.rateWindows = [weekly, other]
        }
        #expect(own.primary == weekly)
        #expect(own.secondary == nil)
        #expect(own.rateWindows == [weekly, other])
        #expect(bounded { _ in }.rateWindows == nil)
    }

    @Test("implausible numbers are left out, percents over 100 stay")
    func numbers() {
        for percent in [Double.nan, .infinity, -.infinity, 1e300] {
            let provider = bounded { $0.primary = SyncRateWindow(usedPercent: percent) }
            #expect(provider.windows.isEmpty)
        }
        #expect(bounded { $0.primary = .init(usedPercent: 105) }.primary?.usedPercent == 105)
        let lengths = [0, -5, .max].map { minutes in
            bounded { $0.primary = .init(usedPercent: 1, windowMinutes: minutes) }
        }
        #expect(lengths.allSatisfy { $0.primary != nil && $0.primary?.windowMinutes == nil })
    }

    @Test("an observation in the future is clamped")
    func future() {
        #expect(bounded { $0.lastUpdated = testNow + 86_400 }.lastUpdated == testNow + 60)
        #expect(bounded { $0.lastUpdated = testNow - 5 }.lastUpdated == testNow - 5)
    }

    @Test("texts and lists are truncated, texts at whole characters")
    func lengths() {
        let long = bounded {
            $0.statusMessage = String(repeating: "é", count: 10_000)
            $0.accountEmail = " dev@example.test\n"
            $0.loginMethod = "  "
            $0.rateWindows = (0..<500).map { SyncRateWindow(usedPercent: Double($0)) }
        }
        #expect(long.statusMessage?.count == 300)
        #expect(long.statusMessage?.hasSuffix("é…") == true)
        #expect(long.accountEmail == "dev@example.test")
        #expect(long.loginMethod == nil)
        #expect(long.rateWindows?.count == 16)
        let piled = "a" + String(repeating: "\u{301}", count: 5_000)
        let cut = SnapshotBounds.text("b" + piled, 10)
        #expect(cut == "b…")
    }
}
