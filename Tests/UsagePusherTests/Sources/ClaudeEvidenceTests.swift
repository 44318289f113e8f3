import Foundation
import LocalFiles
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Evidence for Claude's limits")
struct ClaudeEvidenceTests {
    private let home: SampleHome
    private let store: ClaudeStatuslineStore

    init() throws {
        home = try SampleHome()
        store = ClaudeStatuslineStore(home.environment())
    }

    private static let week = "\"seven_day\":{\"used_percentage\":5,\"resets_at\":1790006400}"

    @Test("a status line's newer numbers override the cache in the same window, unless they are another account's")
    func captureAndCache() throws {
        let home = try SampleHome(copying: "claude/usual")
        let store = ClaudeStatuslineStore(home.environment())
        try store.save(statusline: try statusline("full"), account: "other".fingerprint, at: sampleNow)
        #expect(try home.card(of: ClaudeSource()).primary?.usedPercent == 22)
        let present = try #require(ClaudeSource.presentAccount(in: home.environment()))
        #expect(try store.save(statusline: try statusline("full"), account: present, at: sampleNow))
        let card = try home.card(of: ClaudeSource())
        #expect(card.percents.count == 3 && card.percents.prefix(2) == [23.5, 41.2])
        #expect(card.lastUpdated == sampleNow)
    }

    @Test("a capture has the age of its last change, so an idle session that renders again changes nothing")
    func idleSession() throws {
        func save(_ session: String, _ percent: Int, _ reset: Int, age: Double) throws -> Bool {
            let window = "\"five_hour\":{\"used_percentage\":\(percent),\"resets_at\":\(reset)}"
            return try store.save(statusline: statusline(session: session, window), at: sampleNow - age)
        }
        #expect(try save("idle", 10, 1_789_740_630, age: 120))
        #expect(try save("busy", 60, 1_789_740_600, age: 60))
        #expect(try !save("idle", 10, 1_789_740_630, age: 0))
        let card = try home.card(of: ClaudeSource())
        #expect(card.primary?.usedPercent == 60 && card.lastUpdated == sampleNow - 60)
        #expect(try save("idle", 5, 1_789_740_630, age: 0))
        #expect(try home.card(of: ClaudeSource()).primary?.usedPercent == 5)
    }

    @Test("a cache from the future does not win over a capture")
    func futureCache() throws {
        let home = try SampleHome(copying: "claude/usual")
        try ClaudeStatuslineStore(home.environment()).save(
            statusline: try statusline("full"), at: utc("2026-09-18T11:20:00Z"))
        // The cache was fetched at 11:34.
        for (now, percent) in [(utc("2026-09-18T11:30:00Z"), 23.5), (sampleNow, 22)] {
            #expect(try home.card(of: ClaudeSource(), at: now).primary?.usedPercent == percent)
        }
    }

    @Test("a status line without limits leaves the last capture unchanged")
    func absent() throws {
        try store.save(statusline: try statusline("full"), at: sampleNow - 100)
        for name in ["absent", "null"] {
            #expect(try !store.save(statusline: try statusline(name), at: sampleNow))
        }
        let card = try home.card(of: ClaudeSource())
        #expect(card.percents == [23.5, 41.2] && card.lastUpdated == sampleNow - 100)
    }

    @Test("a window missing from a later status line keeps its own observation time")
    func keptWindow() throws {
        try store.save(statusline: try statusline("full"), at: sampleNow - 600)
        try store.save(statusline: try statusline("weekly-only"), at: sampleNow)
        let file = try #require(FileManager.default.contentsOfDirectory(atPath: store.directory.path).first)
        let content = try Data(contentsOf: URL(filePath: store.directory.path + "/" + file))
        let capture = try #require(JSONFields(content).flatMap { ClaudeStatuslineCapture($0) })
        #expect(capture.windows["five_hour"]?.observedAt == sampleNow - 600)
        #expect(capture.windows["seven_day"]?.usedPercent == 12)
        #expect(capture.windows["seven_day"]?.observedAt == sampleNow)
    }

    @Test("a capture contains nothing of the status line's input but the limits")
    func captureContent() throws {
        let capture = try #require(ClaudeStatuslineCapture(statusline: try statusline("full"), capturedAt: sampleNow))
        #expect(
            String(decoding: capture.document, as: UTF8.self)
                == #"{"capturedAt":1789732800,"session":"\#(capture.session)","version":1,"windows":{"#
                + #""five_hour":{"observedAt":1789732800,"resetsAt":1789740600,"usedPercent":23.5},"#
                + #""seven_day":{"observedAt":1789732800,"resetsAt":1790006400,"usedPercent":41.2}}}"#)
        #expect(JSONFields(capture.document).flatMap { ClaudeStatuslineCapture($0) } == capture)
        #expect(!capture.session.contains("1111"))
    }

    @Test("a capture is private, not rewritten without a change, and removed when old")
    func captureFiles() throws {
        let store = ClaudeStatuslineStore(home.environment(["XDG_STATE_HOME": home.path("state")]))
        #expect(store.directory.path == home.path("state/ubiquity/claude-statusline"))
        let input = try statusline("full")
        #expect(try store.save(statusline: input, at: sampleNow))
        for later in [5.0, 60] { #expect(try !store.save(statusline: input, at: sampleNow + later)) }
        let name = try FileManager.default.contentsOfDirectory(atPath: store.directory.path)[0]
        let path = "state/ubiquity/claude-statusline/" + name
        let mode = try FileManager.default.attributesOfItem(atPath: home.path(path))[.posixPermissions]
        #expect((mode as? NSNumber)?.intValue == 0o600)

        let now = Date()
        try home.touch(path, now - 9 * 86_400)
        try home.write("state/ubiquity/claude-statusline/mine.txt", "", modified: .distantPast)
        let window = "\"five_hour\":{\"used_percentage\":1,\"resets_at\":\(Int(now.timeIntervalSince1970) + 60)}"
        for number in 0..<80 { try store.save(statusline: statusline(session: "\(number)", window), at: now) }
        let left = try FileManager.default.contentsOfDirectory(atPath: store.directory.path)
        #expect(left.count == ClaudeStatuslineStore.captureLimit + 1)
        #expect(!left.contains(name) && left.contains("mine.txt") && !left.contains { $0.hasSuffix(".tmp") })
    }

    @Test("a directory that cannot be created is an error that names what is in the way")
    func cannotWrite() throws {
        try home.write(".local", "a file where a directory should be")
        let error = #expect(throws: FileError.self) { try store.save(statusline: statusline("full"), at: sampleNow) }
        #expect(error?.path == home.path(".local"))
    }

    @Test("an explanation names a model's window and the spending limit of a status line")
    func modelScoped() throws {
        let limits =
            #""five_hour":{"used_percentage":5,"resets_at":1789740600},"model_scoped":[{"display_name":"Fable","#
            + #""utilization":12,"resets_at":"2026-09-21T16:00:00Z"}],"spend_limit":{"used_percentage":130}"#
        try store.save(statusline: statusline(session: "s", limits), at: sampleNow)
        let considered = home.reading(of: ClaudeSource()).considered
        #expect(considered.map(\.limit).sorted() == ["Fable weekly", "Spend limit usage", "session"])
    }

    @Test("a model's window that the session's newest status line lacks is gone")
    func vanishedModel() throws {
        let models =
            #","seven_day_opus":{"used_percentage":7,"resets_at":1790006400},"model_scoped":[{"display_name":"Fable","#
            + #""utilization":12,"resets_at":"2026-09-21T16:00:00Z"}]"#
        try store.save(statusline: statusline(session: "s", Self.week + models), at: sampleNow - 60)
        #expect(try home.card(of: ClaudeSource()).windows.map(\.label) == [nil, "Fable", "Opus"])
        #expect(try store.save(statusline: statusline(session: "s", Self.week), at: sampleNow))
        let card = try home.card(of: ClaudeSource())
        #expect(card.windows.map(\.label) == [nil] && card.lastUpdated == sampleNow - 60)
    }

    private func cache(_ members: String) throws {
        try home.write(
            ".claude.json",
            #"{"oauthAccount":{},"cachedUsageUtilization":{"fetchedAtMs":1789731240000,"utilization":{\#(members)}}}"#)
    }

    @Test("enabled spending is a budget in whole units for its own month")
    func budget() throws {
        let extra = #""extra_usage":{"is_enabled":true,"monthly_limit":5000,"used_credits":"1234","currency":"eur"}"#
        try cache(extra)
        #expect(
            try home.card(of: ClaudeSource()).budget
                == SyncBudget(usedAmount: 12.34, limitAmount: 50, currencyCode: "EUR", period: "month"))
        let amounts = [150, 2_000].map { "{\"amount_minor\":\($0),\"currency\":\"USD\",\"exponent\":2}" }
        try cache(extra + ",\"spend\":{\"enabled\":true,\"used\":\(amounts[0]),\"limit\":\(amounts[1])}")
        let budget = try home.card(of: ClaudeSource()).budget
        #expect(budget?.usedAmount == 1.5 && budget?.limitAmount == 20)
        #expect(try home.card(of: ClaudeSource(), at: utc("2026-10-01T00:00:00Z")).budget == nil)
    }

    @Test(
        "amounts have the decimal places that the file states, and a yen has none",
        arguments: [
            (",\"currency\":\"JPY\"", 1234), (",\"decimal_places\":3", 1.234), (",\"exponent\":1", 123.4), ("", 12.34),
        ])
    func decimalPlaces(members: String, used: Double) throws {
        try cache("\"extra_usage\":{\"is_enabled\":true,\"monthly_limit\":5000,\"used_credits\":1234\(members)}")
        #expect(try home.card(of: ClaudeSource()).budget?.usedAmount == used)
    }

    @Test("plans have display names")
    func plans() {
        let name = { ClaudePlan.displayName(account: $0, credentials: nil) }
        #expect(name(.init(organizationType: "claude_pro", rateLimitTier: "default_claude_ai")) == "Pro")
        #expect(name(.init(organizationType: "<x>", rateLimitTier: nil)) == nil)
        #expect(name(nil) == nil)
    }

    @Test("a login file that is a pipe, deeply nested or of other services is ignored")
    func hostile() throws {
        let home = try SampleHome(copying: "claude/usual")
        try home.write(".claude/.credentials.json", "{\"mcpOAuth\":{}}")
        try home.write(".claude/.config.json", String(repeating: "[", count: 200_000))
        try home.remove(".config/claude/projects")
        try home.link(".config/claude/projects", to: "projects")
        for pipe in [".claude/projects/x.jsonl", ".config/claude/.claude.json"] {
            #expect(mkfifo(home.path(pipe), 0o600) == 0)
        }
        let card = try home.card(of: ClaudeSource())
        #expect(card.primary?.usedPercent == 22 && card.loginMethod == "Max 5x" && !card.isError)
    }

    @Test("a state file of 200 MB is read in bounded memory")
    func hugeState() throws {
        let home = try SampleHome(copying: "claude/usual")
        let state = try home.bytes(".claude.json")
        try home.write(".claude.json", "{\"projects\":{\"p\":\"")
        let handle = try FileHandle(forWritingTo: URL(filePath: home.path(".claude.json")))
        try handle.seekToEnd()
        let filler = Data(repeating: UInt8(ascii: "x"), count: 8 * 1_048_576)
        for _ in 0..<25 { try handle.write(contentsOf: filler) }
        try handle.write(contentsOf: Data("\"},".utf8) + state.dropFirst())
        try handle.close()
        try home.touch(".claude.json", sampleNow)
        let card = try home.card(of: ClaudeSource())
        #expect(card.primary?.usedPercent == 22 && card.accountEmail == "dev@example.test")
    }
}
