import ClockZones
import Foundation
import StoreTestSupport
import Testing

@testable import UsagePusher
@testable import usage_push

@Suite("usage-push sources, as text")
struct SourcesListingTests {
    private static let now = Date(timeIntervalSince1970: 1_789_732_800)
    private static let home = "/home/u"

    private static func time(_ hoursAgo: Double) -> Date { now.addingTimeInterval(-hoursAgo * 3_600) }

    private static func report(
        _ id: String, _ name: String, isInstalled: Bool = false, isPartial: Bool = false, _ findings: SourceFinding...
    ) -> SnapshotBuilder.Report {
        SnapshotBuilder.Report(
            providerID: id, providerName: name,
            reading: SourceReading(isInstalled: isInstalled, findings: findings, isPartial: isPartial))
    }

    private static let none = [
        report(
            "claude", "Claude", SourceFinding(path: home + "/x", title: "Claude status line capture", detail: "none")),
        report("codex", "Codex"), report("gemini", "Gemini CLI"),
        report("cline", "Cline"), report("kilo", "Kilo"), report("kiro", "Kiro"),
    ]

    private static let several = [
        report(
            "claude", "Claude", isInstalled: true, isPartial: true,
            SourceFinding(
                path: home + "/.claude.json", title: "Claude Code state", certainty: .cachedExact, observedAt: time(2),
                detail: "session 22 % used, weekly 37 % used")),
        report(
            "cline", "Cline", isInstalled: true,
            SourceFinding(
                path: home + "/.cline/data/sessions", title: "Cline usage",
                detail: "tokens, but no limits; to see them, run: usage-push report")),
        report(
            "gemini", "Gemini CLI",
            SourceFinding(path: home + "/.gemini", title: "Gemini CLI", detail: "not set up here")),
        report("kilo", "Kilo"),
        report(
            "qwen", "Qwen Code",
            SourceFinding(
                path: home + "/.qwen", title: "Qwen Code usage",
                detail: "cannot be read: permission denied", isError: true)),
        report(
            "kiro", "Kiro", isInstalled: true,
            SourceFinding(
                path: home + "/.kiro/sessions", title: "Kiro credits", observedAt: time(30),
                detail: "12.75 credits in 14 turns in 30 days, from one machine's files;"
                    + " the allowance is not in them")),
    ]

    private static let tokens: [String: TokenSummary] = [
        "claude": TokenSummary(
            requestCount: 12_345, counts: TokenCounts(input: 1_000_000, cacheRead: 81_000_000),
            first: time(2_000), last: time(2), fileCount: 812, isPartial: true),
        "cline": TokenSummary(
            requestCount: 3, counts: TokenCounts(input: 400, output: 412), first: time(1), last: time(1), fileCount: 2,
            leftOut: [
                .init(path: home + "/.cline/data/\u{1B}x.json", source: "cline", count: 2),
                .init(path: home + "/b", source: "cline", count: 1),
            ]),
    ]

    private func check(_ listing: SourcesListing, width: Int?, _ name: String) throws {
        let text = listing.lines(width: width).map { $0 + "\n" }.joined()
        try Repository.expectScreen(text, equals: "sources-\(name)")
        if let width { #expect(text.split(separator: "\n").allSatisfy { $0.count <= width }) }
    }

    @Test("installed tools come first, the others share a line", arguments: [80, 120])
    func several(_ width: Int) throws {
        let listing = SourcesListing(
            reports: Self.several, now: Self.now, home: Self.home, tokens: Self.tokens,
            tokenIssues: ["cannot read /home/u/.local/share/kilo/kilo.db: permission denied"],
            unreadHomes: [ToolHome(providerID: "claude", path: Self.home + "/.claude-work")], zone: .gmt)
        try check(listing, width: width, "several-\(width)")
    }

    @Test("with --all the listing says where each tool was looked for")
    func all() throws {
        let listing = SourcesListing(
            reports: Self.several, now: Self.now, home: Self.home,
            places: [
                "gemini": [Self.home + "/.gemini/tmp"],
                "kilo": [Self.home + "/.local/share/kilo/kilo.db", "/elsewhere"],
            ], zone: .gmt)
        try check(listing, width: 80, "all-80")
    }

    @Test("without any tool the listing is one sentence")
    func none() throws {
        let listing = SourcesListing(reports: Self.none, now: Self.now, home: Self.home)
        try check(listing, width: 80, "none-80")
    }
}
