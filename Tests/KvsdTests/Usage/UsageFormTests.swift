import Foundation
import HTTPTypes
import ServerTestSupport
import SnapshotModels
import Testing
import UsageState

@testable import UsageServer

@Suite("Text and badges of GET /v1/usage", .timeLimit(.minutes(5)))
struct UsageFormTests {
    @Test("the text has a line for each window, in used or left")
    func text() async throws {
        let usage = try await UsageDaemon()
        try await usage.push(usage.snapshot("desk", usage.provider(cost: usage.cost)))
        let response = try await usage.get("?zone=Z", [.accept: "text/plain"])
        #expect(response.headers[.contentType] == "text/plain; charset=utf-8")
        let codex = [
            "Codex  Session (5h)  36 % used, comfortable · resets in 2h 31m · well under pace · lasts until reset",
            "Codex  Weekly        81 % used, low · resets in 3d · well ahead of pace · runs out in ",
            "Codex  Cost          today $1.20 (310k tokens) · 7 days $1.20 · 30 days $1.20",
        ]
        let lines = response.text.split(separator: "\n")
        #expect(lines.count == codex.count, "\(response.text)")
        for (line, beginning) in zip(lines, codex) { #expect(line.hasPrefix(beginning)) }
        let left = try await usage.get("?format=text&left=1&window=SESSION").text
        #expect(left.hasPrefix("Codex  Session (5h)  64 % left, comfortable · "))
        #expect(left.split(separator: "\n").count == 1)
    }

    @Test("the badge is of the window that ends first, or of the one that the query names")
    func badge() async throws {
        let usage = try await UsageDaemon()
        try await usage.push(
            usage.snapshot("desk", usage.provider(), usage.provider("claude", "Claude", session: 92, weekly: 5)))
        func title(_ query: String) async throws -> String? {
            let response = try await usage.get(query)
            #expect(response.headers[.contentType] == "image/svg+xml", "\(response.text)")
            return response.text.firstMatch(of: /<title>(.*)<\/title>/).map { String($0.1) }
        }
        #expect(try await title("?format=badge") == "Claude Session (5h): 92 % used, critical")
        #expect(try await title("?format=svg&provider=Codex") == "Codex Weekly: 81 % used, runs out before its reset")
        #expect(
            try await title("?format=svg&provider=codex&window=5h&left=true")
                == "Codex Session (5h): 64 % left, comfortable")
        #expect(try await usage.get("?provider=codex", [.accept: "image/svg+xml"]).text.contains("#8a6100"))
    }

    @Test("old numbers are stale, expired ones are not shown, and an error says so")
    func oldNumbers() async throws {
        let usage = try await UsageDaemon()
        var expired = usage.provider("a", "A", session: 42, observedSecondsAgo: 7_200)
        expired.rateWindows = [usage.window(42, 300, resetsInMinutes: -10)]
        var failed = usage.provider("b", "B")
        (failed.rateWindows, failed.isError) = ([], true)
        failed.statusMessage = "signed out"
        var estimate = usage.provider("c", "C", observedSecondsAgo: 7_200)
        estimate.usageDataConfidence = "estimated"
        try await usage.push(usage.snapshot("desk", expired, failed, estimate))
        let badges = try await ["a", "b", "c"].asyncMap {
            try await usage.get("?format=svg&provider=\($0)").text
        }
        #expect(badges[0].contains(": reset, no newer data<") && !badges[0].contains("42 %"))
        #expect(badges[1].contains("B: error<"))
        #expect(badges[2].contains(">~81 % used, stale<"))
        #expect(badges.map { $0.contains("#5f6368") } == [true, false, true])
        let text = try await usage.get("?format=text").text
        #expect(text.contains("reset 10 min ago · no newer data") && !text.contains("42 %"))
        #expect(text.contains("signed out") && text.contains("stale, as of 2 h ago"))
    }

    @Test("hostile names stay text, and the badge stays small")
    func hostile() async throws {
        let usage = try await UsageDaemon()
        let name = "</title><script>alert(1)</script>&\"'\u{1B}[2J\u{202E}\u{0}\u{FFFE}\n"
        var provider = usage.provider("x", name + String(repeating: "日本\u{0301}", count: 3_000))
        provider.rateWindows = [usage.window(50, 300, resetsInMinutes: 60, name)]
        provider.costSummary = usage.cost
        provider.statusMessage = name
        var snapshot = usage.snapshot("desk\n" + name, provider)
        snapshot.deviceID = "hostile"
        try await usage.push(snapshot)

        let svg = try await usage.get("?format=svg").text
        let tags = svg.matches(of: /<[^>]*>/).map { $0.0.prefix { $0 != " " && $0 != ">" } }
        #expect(
            tags == [
                "<svg", "<title", "</title", "<clipPath", "<rect", "</clipPath", "<g", "<rect",
                "<rect", "</g", "<g", "<text", "</text", "<text", "</text", "</g", "</svg",
            ])
        #expect(svg.utf8.count < 4_096)
        #expect(svg.matches(of: /&(?!amp;|lt;|gt;|quot;|#39;)/).isEmpty)
        let width = try #require(svg.firstMatch(of: /width="(\d+)"/).flatMap { Int($0.1) })
        #expect(width <= 520)

        let text = try await usage.get("?format=text").text
        for form in [svg, text] {
            let isClean = form.unicodeScalars.allSatisfy {
                $0 == "\n" || $0.value >= 0x20 && $0 != "\u{202E}" && $0 != "\u{FFFE}"
            }
            #expect(isClean)
        }
        #expect(text.utf8.count < 4_096 && text.split(separator: "\n").count == 3)
    }

    @Test("64 devices are merged, and the text stays short")
    func manyDevices() async throws {
        let usage = try await UsageDaemon()
        for index in 0..<64 {
            try await usage.push(
                usage.snapshot(
                    "device-\(index)", usage.provider(account: "\(index)@example.test"),
                    usage.provider("claude", "Claude", account: "\(index)@example.test"),
                    usage.provider("gemini", "Gemini", session: Double(index))))
        }
        let report = try await usage.report()
        #expect(report.devices.count == 64 && report.providers.count == 129)
        let claude = try await usage.report("?provider=claude&account=7@EXAMPLE.test")
        #expect(claude.providers.map(\.account) == ["7@example.test"])
        #expect(claude.devices.count == 64)
        let text = try await usage.get("?format=text").text
        #expect(text.split(separator: "\n").count == UsageText.lineLimit + 1)
        #expect(text.hasSuffix("… and more: ask for one provider, account or window\n"))
        #expect(try await usage.get("?format=svg").text.contains("81 % used, runs out before its reset"))
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ body: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await body(element)) }
        return values
    }
}
