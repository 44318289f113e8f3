import ClockZones
import Foundation
import KVStoreCore
import SnapshotModels
import TerminalText
import StoreTestSupport
import Testing
@testable import UsageState

@testable import usage_view

@Suite("Parts of the live viewer")
struct ViewPartTests {
    // MARK: - Sentences

    @Test("sentences state every fact, and then only what has changed")
    func sentences() throws {
        let before = PlainFacts(try Sample.model("busy-box"))
        try Repository.expectScreen(before.lines.joined(separator: "\n") + "\n", equals: "plain-busy-box")
        #expect(before.changes(since: before).isEmpty)
        let minuteLater = PlainFacts(try Sample.model("busy-box", minutesLater: 1))
        #expect(minuteLater.changes(since: before).isEmpty, "time alone changes nothing")
        let later = PlainFacts(try Sample.model("busy-box", link: .offline(lastSeen: Sample.now), minutesLater: 100))
        let changes = later.changes(since: before)
        #expect(changes.contains { $0.hasPrefix("Claude dev@example.test, Session (5h): reset at") })
        #expect(changes.contains { $0.hasPrefix("Offline, daemon last seen 12:00") })
        let empty = PlainFacts(Sample.model(stored: .nothing, link: .online))
        #expect(empty.lines.first?.hasPrefix("Waiting for the first push.") == true)
        #expect(empty.changes(since: before).contains { $0.hasPrefix("no longer: Claude") })
    }

    // MARK: - Redaction

    @Test("no name is left in a redacted report, and names stay the same")
    func redaction() throws {
        let sample = try Sample.model("busy-box", "busy-laptop")
        var data = sample.data
        data.history.add(sample.providers.map(\.snapshot), now: sample.now)
        let model = ViewModel(data: data, now: sample.now, zone: sample.zone)
        let redacted = ViewModel(data: data.redacted, now: sample.now, zone: sample.zone)
        let report = String(decoding: try JSONEncoder().encode(UsageReport(redacted)), as: UTF8.self)
        for name in ["dev@", "team@", "\"box\"", "laptop", "11111111", "settings.json"] {
            #expect(!report.contains(name), "\(name)")
        }
        let (shown, real) = (redacted.providers.flatMap(\.windows), model.providers.flatMap(\.windows))
        #expect(shown.map(\.window) == real.map(\.window))
        // The past of each window is found under its invented account.
        #expect(shown.map(\.history) == real.map(\.history))
        #expect(shown.contains { $0.history != nil })
        #expect(!"\(redacted.data.history)".contains("dev@"))
        #expect(redacted.data == model.data.redacted)
        let accounts = Set(redacted.providers.compactMap(\.snapshot.accountEmail))
        #expect(accounts.count == 2 && accounts.allSatisfy { $0.hasSuffix("@example.test") })
        let live = LiveSample.data(model.data).redacted
        #expect(!live.keys.contains { $0.key.contains("codexbar") })
        let text = "\(live)"
        #expect(!text.contains("Hello") && !text.contains("dev@") && !text.contains("laptop"))
    }

    @Test("names that would get the same invented one get different ones")
    func collisions() {
        let names = Set((0..<100).map { "device \($0)" })
        let redaction = Redaction(accounts: [], devices: names)
        #expect(Set(names.map(redaction.device)).count == 100)
    }

    // MARK: - Values

    @Test("a value is shown as JSON, text, hex and property list")
    func values() {
        let json = PropertyListValue.data(Data("{\"b\":1,\"a\":\"x\"}".utf8)).encoded()
        #expect(StoredValueForm.json.lines(of: json) == ["{", "  \"a\": \"x\",", "  \"b\": 1", "}"])
        #expect(StoredValueForm.text.lines(of: json) == ["{\"b\":1,\"a\":\"x\"}"])
        #expect(StoredValueForm.hexadecimal.lines(of: json)[0].contains("bplist00"))
        #expect(StoredValueForm.propertyList.lines(of: json).contains { $0.contains("data") })
        let text = PropertyListValue.string("a\n\u{1B}[2J").encoded()
        #expect(StoredValueForm.text.lines(of: text) == ["a", "\\u{1B}[2J"])
        for form in StoredValueForm.allCases { #expect(!form.lines(of: Data([0xFF, 0x00])).isEmpty) }
    }

    // MARK: - Costs

    @Test("tokens and cost are listed by the viewer's days, and cost by model")
    func costs() throws {
        let hour = Int(Sample.now.timeIntervalSince1970) / 3_600
        let summary = SyncCostSummary(
            daily: [
                SyncDailyCost(
                    dayKey: "2026-09-17",
                    modelBreakdowns: [
                        SyncCostBreakdown(label: "small", costUSD: 1),
                        SyncCostBreakdown(label: "large", costUSD: 2),
                    ]),
                SyncDailyCost(dayKey: "2026-09-18", modelBreakdowns: [SyncCostBreakdown(label: "small", costUSD: 4)]),
            ],
            hourly: [
                SyncHourlyCost(hour: hour, totalTokens: 10, costUSD: 1),
                SyncHourlyCost(hour: hour - 24, totalTokens: 20, costUSD: 2),
            ])
        let costs = try #require(CostBreakdown(summary, dayCount: 3, now: Sample.now, zone: .fixed(secondsFromGMT: 0)))
        #expect(costs.days.map(\.amount.tokens) == [10, 20, 0])
        #expect(costs.models.map(\.name) == ["small", "large"])
        #expect(costs.models.map(\.costUSD) == [5, 2])
        #expect(CostBreakdown(nil, dayCount: 3, now: Sample.now, zone: .fixed(secondsFromGMT: 0)) == nil)
    }

    // MARK: - Clock

    @Test(
        "the locale decides on 12 or 24 hours",
        arguments: [
            ("en_US.UTF-8", true), ("de_DE.UTF-8", false), ("en_GB", false), ("C", false),
            ("fr_CA.UTF-8", false), ("en_CA", true), ("", false), ("hi_IN", true),
        ])
    func locale(name: String, isTwelveHour: Bool) {
        #expect(ColorPolicy.isTwelveHour(environment: ["LC_TIME": name]) == isTwelveHour)
        #expect(ColorPolicy.isTwelveHour(environment: ["LANG": "en_US", "LC_TIME": "de_DE"]) == false)
    }

    @Test(
        "a clock of twelve hours has no hour zero",
        arguments: [(0, "12:05 AM"), (1, "1:05 AM"), (12, "12:05 PM"), (15, "3:05 PM")])
    func twelveHours(hour: Int, text: String) {
        let midnight = Sample.now.addingTimeInterval(-12 * 3_600)
        let times = TimeFormatter(now: midnight, zone: .fixed(secondsFromGMT: 0), isTwelveHour: true)
        #expect(times.clock(midnight.addingTimeInterval(Double(hour) * 3_600 + 300)) == text)
    }
}
