import Commands
import Foundation
import SnapshotModels
import StoreTestSupport
import Testing
import UsageState

@testable import usage_view

@Suite("The JSON report")
struct UsageReportTests {
    @Test("two devices are reported as in the stored document")
    func busy() throws {
        let model = try Sample.model("busy-box", "busy-laptop")
        let data = try JSONOutput.data(UsageReport(model), isIndented: true)
        try Repository.expectScreen(String(decoding: data, as: UTF8.self), equals: "busy-json")
    }

    @Test("an expired window has no percentage")
    func expired() throws {
        let report = UsageReport(try Sample.model("busy-box", minutesLater: 120))
        let session = try #require(report.providers.first?.windows.first)
        #expect(session.isExpired)
        #expect(session.usedPercent == nil && session.remainingPercent == nil)
        #expect(session.level == nil && session.resetsInSeconds == 0)
    }

    @Test("every empty state has its own situation")
    func situations() throws {
        func report(_ stored: UsageData.Stored, _ link: UsageData.Link) -> UsageReport {
            UsageReport(Sample.model(stored: stored, link: link))
        }
        #expect(report(.nothing, .notJoined).situation == .notJoined)
        #expect(report(.nothing, .online).situation == .waitingForFirstPush)
        let offline = report(.nothing, .offline(lastSeen: Sample.now))
        #expect(offline.situation == .offlineWithoutData)
        #expect(offline.connection == .offline(lastSeen: Sample.now))
        #expect(report(.unreadable(reason: "x"), .online).situation == .unreadable)
        #expect(report(.usage(SnapshotMerge.merge([], now: Sample.now)), .online).situation == .waitingForFirstPush)
    }

    @Test("hostile strings are encoded and decode to the same report")
    func hostile() throws {
        let report = UsageReport(try Sample.model("hostile-text"))
        let data = try JSONOutput.data(report, isIndented: true)
        #expect(!data.contains(0x1B))
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        #expect(try decoder.decode(UsageReport.self, from: data) == report)
    }
}
