import Foundation
import SnapshotModels
import StoreTestSupport
import Testing
import UsageState

@testable import usage_view

@Suite("Metrics for Prometheus")
struct PrometheusTests {
    private let usage = InventedUsage()

    @Test("all kinds of accounts are as stored")
    func stored() throws {
        let text = PrometheusText(usage.model(usage.several)).text
        try Repository.expectScreen(text, equals: "metrics")
        try check(text)
    }

    @Test("hostile names are escaped and no label set occurs twice")
    func hostile() throws {
        let same = usage.window(1, label: InventedUsage.hostile)
        let account = usage.account(
            "codex", [same, usage.window(2, label: InventedUsage.hostile)], account: InventedUsage.hostile)
        let text = PrometheusText(usage.model(usage.data(account))).text
        try check(text)
        #expect(text.contains(##"#[fg=red]"##))
        #expect(text.contains(#"\\u{1B}[31m"#))
        #expect(text.matches(of: /window_used_ratio\{/).count == 1)
        #expect(text.contains("} 0.01\n"))
    }

    @Test("the number of series is bounded, and so is the length of a label")
    func bounded() throws {
        let accounts = (0..<40).map { number in
            usage.account(
                "provider\(number)",
                (0..<64).map { usage.window(1, label: "\($0)" + String(repeating: "x", count: 900)) })
        }
        let merged = SnapshotMerge.merge([usage.snapshot(accounts)], now: usage.now)
        let text = PrometheusText(usage.model(UsageData(link: .online, stored: .usage(merged)))).text
        try check(text)
        #expect(
            text.matches(of: /window_used_ratio\{/).count == PrometheusText.seriesLimit)
        #expect(text.split(separator: "\n").allSatisfy { $0.utf8.count < 700 })
    }

    @Test("a replica that cannot be read is down")
    func down() {
        let model = usage.model(UsageData(link: .notJoined, stored: .unreadable(reason: "x")))
        #expect(PrometheusText(model).text.hasSuffix("\nubiquity_usage_up 0\n"))
    }

    /// The rules of the text format: a metric's lines together, after its HELP and TYPE, each label set once.
    private func check(_ text: String) throws {
        #expect(text.hasSuffix("\n"))
        var announced: String?
        var metrics: Set<String> = []
        var series: Set<String> = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            if let help = line.firstMatch(of: /^# HELP ([a-z_]+) .+$/) {
                announced = String(help.1)
                #expect(metrics.insert(String(help.1)).inserted, "\(line)")
            } else if line.hasPrefix("#") {
                #expect(line == "# TYPE \(announced ?? "") gauge")
            } else {
                let label = #"[a-z]+="(?:[^"\\\n]|\\["\\n])*""#
                let sample = try Regex("^([a-z_]+)(\\{\(label)(?:,\(label))*\\})? (-?[0-9.e+-]+)$")
                let match = try #require(try sample.firstMatch(in: String(line)), "\(line)")
                #expect(match[1].substring.map(String.init) == announced)
                #expect(Double(match[3].substring ?? "")?.isFinite == true)
                let id = String(line.prefix(upTo: line.lastIndex(of: " ") ?? line.endIndex))
                #expect(series.insert(id).inserted, "\(line)")
            }
        }
    }
}
