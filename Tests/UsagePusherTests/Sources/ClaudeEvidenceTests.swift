import Foundation
import LocalFiles
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Evidence for Claude's limits")
struct ClaudeEvidenceTests {
    @Test("a status line's newer numbers override the cache in the same window")
    func captureAndCache() throws {
        let home = try SampleHome(copying: "claude/usual")
        let store = ClaudeStatuslineStore(home.environment())
        #expect(try store.save(statusline: try statusline("full"), at: sampleNow))
        let provider = try claudeProvider(home)
        #expect(provider.primary?.usedPercent == 23.5)
        #expect(provider.secondary?.usedPercent == 41.2)
        #expect(provider.rateWindows?.count == 3)
        #expect(provider.lastUpdated == sampleNow)
    }

    @Test("a capture has the age of its last change, so an idle session that renders again changes nothing")
    func idleSession() throws {
        let home = try SampleHome()
        let store = ClaudeStatuslineStore(home.environment())
        let window = { (percent: Int, reset: Int) in
            "\"five_hour\":{\"used_percentage\":\(percent),\"resets_at\":\(reset)}"
        }
        let idle = statusline(session: "idle", window(10, 1_789_740_630))
        try store.save(statusline: idle, at: sampleNow.addingTimeInterval(-120))
        try store.save(
            statusline: statusline(session: "busy", window(60, 1_789_740_600)),
            at: sampleNow.addingTimeInterval(-60))
        #expect(try !store.save(statusline: idle, at: sampleNow))
        #expect(try claudeProvider(home).primary?.usedPercent == 60)
        #expect(try claudeProvider(home).lastUpdated == sampleNow.addingTimeInterval(-60))
        try store.save(statusline: statusline(session: "idle", window(5, 1_789_740_630)), at: sampleNow)
        #expect(try claudeProvider(home).primary?.usedPercent == 5)
    }

    @Test("a cache from the future does not win over a capture")
    func futureCache() throws {
        let home = try SampleHome(copying: "claude/usual")
        let store = ClaudeStatuslineStore(home.environment())
        let earlier = utc("2026-09-18T11:20:00Z")
        try store.save(statusline: try statusline("full"), at: earlier)
        // The cache was fetched at 11:34.
        let before = try claudeProvider(home, at: utc("2026-09-18T11:30:00Z"))
        #expect(before.primary?.usedPercent == 23.5)
        #expect(try claudeProvider(home).primary?.usedPercent == 22)
    }

    @Test("a status line without limits leaves the last capture unchanged")
    func absent() throws {
        let home = try SampleHome()
        let store = ClaudeStatuslineStore(home.environment())
        try store.save(statusline: try statusline("full"), at: sampleNow.addingTimeInterval(-100))
        for name in ["absent", "null"] {
            #expect(try !store.save(statusline: try statusline(name), at: sampleNow))
        }
        let provider = try claudeProvider(home)
        #expect(provider.windows.map(\.usedPercent) == [23.5, 41.2])
        #expect(provider.lastUpdated == sampleNow.addingTimeInterval(-100))
    }

    @Test("more than 100 % and a missing window are kept")
    func unusual() throws {
        let over = try SampleHome()
        try ClaudeStatuslineStore(over.environment()).save(statusline: try statusline("over-100"), at: sampleNow)
        #expect(try claudeProvider(over).primary?.usedPercent == 105)
        #expect(try claudeProvider(over).primary?.remainingPercent == 0)
        let weekly = try SampleHome()
        try ClaudeStatuslineStore(weekly.environment()).save(statusline: try statusline("weekly-only"), at: sampleNow)
        #expect(try claudeProvider(weekly).primary == nil)
        #expect(try claudeProvider(weekly).secondary?.usedPercent == 12)
    }

    @Test("a window missing from a later status line keeps its own observation time")
    func keptWindow() throws {
        let home = try SampleHome()
        let store = ClaudeStatuslineStore(home.environment())
        let earlier = sampleNow.addingTimeInterval(-600)
        try store.save(statusline: try statusline("full"), at: earlier)
        try store.save(statusline: try statusline("weekly-only"), at: sampleNow)
        let capture = try #require(
            JSONFields(
                try Data(
                    contentsOf: URL(
                        fileURLWithPath: store.directory.path + "/"
                            + FileManager.default.contentsOfDirectory(atPath: store.directory.path)[
                                0]))
            )
            .flatMap { ClaudeStatuslineCapture($0) })
        #expect(capture.windows["five_hour"]?.observedAt == earlier)
        #expect(capture.windows["seven_day"]?.usedPercent == 12)
        #expect(capture.windows["seven_day"]?.observedAt == sampleNow)
    }

    @Test("a capture contains nothing of the status line's input but the limits")
    func captureContent() throws {
        let capture = try #require(ClaudeStatuslineCapture(statusline: try statusline("full"), capturedAt: sampleNow))
        #expect(
            String(decoding: capture.document, as: UTF8.self)
                == "{\"capturedAt\":1789732800,\"session\":\"\(capture.session)\",\"version\":1,"
                + "\"windows\":{\"five_hour\":{\"observedAt\":1789732800,\"resetsAt\":1789740600,"
                + "\"usedPercent\":23.5},\"seven_day\":{\"observedAt\":1789732800,"
                + "\"resetsAt\":1790006400,\"usedPercent\":41.2}}}")
        #expect(JSONFields(capture.document).flatMap { ClaudeStatuslineCapture($0) } == capture)
        #expect(!capture.session.contains("1111"))
    }

    @Test("a capture is private, not rewritten without a change, and removed when old")
    func captureFiles() throws {
        let home = try SampleHome()
        let store = ClaudeStatuslineStore(home.environment(["XDG_STATE_HOME": home.path("state")]))
        #expect(store.directory.path == home.path("state/ubiquity/claude-statusline"))
        let input = try statusline("full")
        #expect(try store.save(statusline: input, at: sampleNow))
        #expect(try !store.save(statusline: input, at: sampleNow.addingTimeInterval(5)))
        #expect(try !store.save(statusline: input, at: sampleNow.addingTimeInterval(60)))
        let name = try FileManager.default.contentsOfDirectory(atPath: store.directory.path)[0]
        let path = store.directory.path + "/" + name
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect((mode as? NSNumber)?.intValue == 0o600)

        let now = Date()
        try FileManager.default.setAttributes(
            [.modificationDate: now.addingTimeInterval(-9 * 86_400)], ofItemAtPath: path)
        try home.write("state/ubiquity/claude-statusline/mine.txt", "", modified: .distantPast)
        for number in 0..<80 {
            let window =
                "\"five_hour\":{\"used_percentage\":1,"
                + "\"resets_at\":\(Int(now.timeIntervalSince1970) + 60)}"
            try store.save(statusline: statusline(session: "\(number)", window), at: now)
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: store.directory.path)
        #expect(left.count == ClaudeStatuslineStore.captureLimit + 1)
        #expect(!left.contains(name))
        #expect(left.contains("mine.txt"))
        #expect(!left.contains { $0.hasSuffix(".tmp") })
    }

    @Test("a directory that cannot be created is an error that names what is in the way")
    func cannotWrite() throws {
        let home = try SampleHome()
        try home.write(".local", "a file where a directory should be")
        let store = ClaudeStatuslineStore(home.environment())
        let error = #expect(throws: FileError.self) {
            try store.save(statusline: statusline("full"), at: sampleNow)
        }
        #expect(error?.path == home.path(".local"))
    }

    @Test("model windows and the spending limit of a status line are labelled windows")
    func modelScoped() throws {
        let home = try SampleHome()
        let limits =
            "\"five_hour\":{\"used_percentage\":5,\"resets_at\":1789740600},\"model_scoped\":["
            + "{\"display_name\":\"Fable\",\"utilization\":12,\"resets_at\":\"2026-09-21T16:00:00Z\"},"
            + "{\"display_name\":\"Opus\",\"utilization\":null}],"
            + "\"spend_limit\":{\"used_percentage\":130,\"resets_at\":1790006400}"
        try ClaudeStatuslineStore(home.environment()).save(statusline: statusline(session: "s", limits), at: sampleNow)
        let provider = try claudeProvider(home)
        #expect(provider.windows.map(\.label) == [nil, "Fable", "Spend limit"])
        #expect(provider.windows.map(\.usedPercent) == [5, 12, 130])
        var environment = home.environment()
        environment.explains = true
        var source = ClaudeSource()
        let considered = source.read(in: environment, at: sampleNow).considered
        #expect(considered.map(\.limit).sorted() == ["Fable weekly", "Spend limit usage", "session"])
    }

    @Test("a model's window that the session's newest status line lacks is gone")
    func vanishedModel() throws {
        let home = try SampleHome()
        let store = ClaudeStatuslineStore(home.environment())
        let week = "\"seven_day\":{\"used_percentage\":5,\"resets_at\":1790006400}"
        let models =
            ",\"seven_day_opus\":{\"used_percentage\":7,\"resets_at\":1790006400},"
            + "\"model_scoped\":[{\"display_name\":\"Fable\",\"utilization\":12,"
            + "\"resets_at\":\"2026-09-21T16:00:00Z\"}]"
        let earlier = sampleNow.addingTimeInterval(-60)
        try store.save(statusline: statusline(session: "s", week + models), at: earlier)
        #expect(try claudeProvider(home).windows.map(\.label) == [nil, "Fable", "Opus"])
        #expect(try store.save(statusline: statusline(session: "s", week), at: sampleNow))
        let provider = try claudeProvider(home)
        #expect(provider.windows.map(\.label) == [nil])
        #expect(provider.lastUpdated == earlier)
    }

    @Test("a capture of another account is not shown as the present account's")
    func captureOfAnotherAccount() throws {
        let home = try SampleHome(copying: "claude/usual")
        let store = ClaudeStatuslineStore(home.environment())
        try store.save(statusline: try statusline("full"), account: "other".fingerprint, at: sampleNow)
        #expect(try claudeProvider(home).primary?.usedPercent == 22)
        let present = try #require(ClaudeSource.presentAccount(in: home.environment()))
        try store.save(statusline: try statusline("full"), account: present, at: sampleNow)
        #expect(try claudeProvider(home).primary?.usedPercent == 23.5)
    }

    @Test("a cache of another account is ignored and reported")
    func otherAccount() throws {
        let home = try SampleHome(copying: "claude/usual")
        let path = ".claude.json"
        let text = try String(contentsOfFile: home.path(path), encoding: .utf8)
        let parts = text.components(separatedBy: "0000000000aa")
        try home.write(path, parts[0] + "0000000000cc" + parts[1] + "0000000000aa" + parts[2])
        var source = ClaudeSource()
        let reading = source.read(in: home.environment(), at: sampleNow)
        #expect(reading.provider?.windows.isEmpty == true)
        #expect(reading.provider?.accountEmail == "dev@example.test")
        #expect(reading.findings.contains { $0.detail.contains("another account") })
    }

    @Test("enabled spending is a budget in whole units for its own month")
    func budget() throws {
        let state = { (fields: String) in
            "{\"oauthAccount\":{},\"cachedUsageUtilization\":{\"fetchedAtMs\":1789731240000,"
                + "\"utilization\":{\(fields)}}}"
        }
        let extra =
            "\"extra_usage\":{\"is_enabled\":true,\"monthly_limit\":5000,\"used_credits\":\"1234\","
            + "\"currency\":\"eur\"}"
        let spend =
            "\"spend\":{\"enabled\":true,\"used\":{\"amount_minor\":150,\"currency\":\"USD\","
            + "\"exponent\":2},"
            + "\"limit\":{\"amount_minor\":2000,\"currency\":\"USD\",\"exponent\":2}}"
        let home = try SampleHome()
        try home.write(".claude.json", state(extra))
        #expect(
            try claudeProvider(home).budget
                == SyncBudget(usedAmount: 12.34, limitAmount: 50, currencyCode: "EUR", period: "month"))
        try home.write(".claude.json", state(extra + "," + spend))
        #expect(try claudeProvider(home).budget?.usedAmount == 1.5)
        #expect(try claudeProvider(home).budget?.limitAmount == 20)
        #expect(try claudeProvider(home, at: utc("2026-10-01T00:00:00Z")).budget == nil)
    }

    @Test("a limit on something unnamed does not pass for the limit on everything")
    func namelessScope() throws {
        let home = try SampleHome()
        try home.write(
            ".claude.json",
            "{\"cachedUsageUtilization\":{\"fetchedAtMs\":1789731240000,"
                + "\"utilization\":{\"limits\":["
                + "{\"kind\":\"weekly_scoped\",\"group\":\"weekly\",\"percent\":99,"
                + "\"resets_at\":\"2026-09-21T16:00:00Z\",\"scope\":{\"model\":null}},"
                + "{\"kind\":\"weekly_all\",\"group\":\"weekly\",\"percent\":5,"
                + "\"resets_at\":\"2026-09-21T16:00:00Z\",\"scope\":null}]}}}")
        let provider = try claudeProvider(home)
        #expect(provider.windows.map(\.usedPercent) == [5])
    }

    @Test("plans have display names")
    func plans() {
        let account = { (type: String?, tier: String?) in
            ClaudeState.Account(organizationType: type, rateLimitTier: tier)
        }
        let name = { ClaudePlan.displayName(account: $0, credentials: nil) }
        #expect(name(account("claude_max", "default_claude_max_20x")) == "Max 20x")
        #expect(name(account("claude_pro", "default_claude_ai")) == "Pro")
        #expect(name(account("<x>", nil)) == nil)
        #expect(name(nil) == nil)
    }

    @Test("a login file that is a pipe, deeply nested or of other services is ignored")
    func hostile() throws {
        let home = try SampleHome(copying: "claude/usual")
        try home.write(".claude/.credentials.json", "{\"mcpOAuth\":{}}")
        try home.write(".claude/.config.json", String(repeating: "[", count: 200_000))
        try FileManager.default.removeItem(atPath: home.path(".config/claude/projects"))
        try home.link(".config/claude/projects", to: "projects")
        #expect(mkfifo(home.path(".claude/projects/x.jsonl"), 0o600) == 0)
        #expect(mkfifo(home.path(".config/claude/.claude.json"), 0o600) == 0)
        let provider = try claudeProvider(home)
        #expect(provider.primary?.usedPercent == 22)
        #expect(provider.loginMethod == "Max 5x")
        #expect(!provider.isError)
    }

    @Test("an unreadable state file is an error that names it")
    func unreadable() throws {
        let home = try SampleHome()
        try home.link(".claude.json", to: ".claude.json")
        var source = ClaudeSource()
        let reading = source.read(in: home.environment(), at: sampleNow)
        #expect(reading.isInstalled)
        #expect(reading.provider?.isError == true)
        #expect(reading.provider?.statusMessage?.contains(home.path(".claude.json")) == true)
    }

    @Test("a state file of 200 MB is read in bounded memory")
    func hugeState() throws {
        let home = try SampleHome(copying: "claude/usual")
        let path = home.path(".claude.json")
        let state = try Data(contentsOf: URL(fileURLWithPath: path))
        let project = Data("{\"projects\":{\"p\":\"".utf8)
        let end = Data("\"},".utf8)
        try home.write(".claude.json", project)
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try handle.seekToEnd()
        let filler = Data(repeating: UInt8(ascii: "x"), count: 8 * 1_048_576)
        for _ in 0..<25 { try handle.write(contentsOf: filler) }
        try handle.write(contentsOf: end + state.dropFirst())
        try handle.close()
        try home.touch(".claude.json", sampleNow)
        let provider = try claudeProvider(home)
        #expect(provider.primary?.usedPercent == 22)
        #expect(provider.accountEmail == "dev@example.test")
    }

    @Test("amounts have the decimal places that the file states, and a yen has none")
    func decimalPlaces() throws {
        let state = { (fields: String) in
            "{\"cachedUsageUtilization\":{\"fetchedAtMs\":1789731240000,\"utilization\":{\(fields)}}}"
        }
        let extra = { (fields: String) in
            state("\"extra_usage\":{\"is_enabled\":true,\"monthly_limit\":5000,\"used_credits\":1234\(fields)}")
        }
        let home = try SampleHome()
        for (fields, used) in [
            (",\"currency\":\"JPY\"", 1234), (",\"decimal_places\":3", 1.234), (",\"exponent\":1", 123.4), ("", 12.34),
        ] {
            try home.write(".claude.json", extra(fields))
            #expect(try claudeProvider(home).budget?.usedAmount == used)
        }
    }
}
