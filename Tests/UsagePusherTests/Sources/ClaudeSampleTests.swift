import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Claude's sample homes")
struct ClaudeSampleTests {
    /// Without and with a variable that names the usual directory.
    private func readings(_ home: SampleHome) -> [SourceReading] {
        [[:], ["CLAUDE_CONFIG_DIR": home.path(".claude")]].map { home.reading(of: ClaudeSource(), $0) }
    }

    @Test("a state file without account and cache is ignored in any configured directory")
    func decoy() throws {
        for reading in readings(try SampleHome(copying: "claude/decoy")) {
            #expect(reading.isInstalled && reading.provider == nil)
            #expect(reading.findings.contains { $0.detail.contains("no account") })
        }
    }

    @Test("a decoy does not hide the file with the account")
    func decoyBeside() throws {
        let home = try SampleHome(copying: "claude/usual")
        try home.write(".claude/.claude.json", "{\"firstStartTime\":\"2026-06-20T12:00:00.000Z\"}")
        #expect(readings(home).map(\.provider?.primary?.usedPercent) == [22, 22])
    }

    @Test("the address of an account comes from any state file of its user")
    func addressElsewhere() throws {
        let home = try SampleHome(copying: "claude/two-states")
        #expect(readings(home).map(\.provider?.primary?.usedPercent) == [22, 22])
        #expect(readings(home).map(\.provider?.accountEmail) == ["dev@example.test", "dev@example.test"])
        try home.write(
            ".claude.json", #"{"oauthAccount":{"accountUuid":"other","emailAddress":"other@example.test"}}"#)
        #expect(try home.card(of: ClaudeSource()).accountEmail == nil)
    }
}
