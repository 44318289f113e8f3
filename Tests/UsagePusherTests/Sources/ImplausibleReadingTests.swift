import Foundation
import SnapshotModels
import Testing

@testable import SQLiteReading
@testable import UsagePusher

/// Writes a home in which a tool states one window.
struct WindowWriter: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let providerID: String
    /// Gets the home, the percent and the reset, both as JSON.
    let write: @Sendable (SampleHome, String, String) throws -> Void

    static let all: [WindowWriter] = [
        .init("Codex, a window", "codex") { home, percent, reset in
            let window = #"{"used_percent":\#(percent),"window_minutes":300,"resets_at":\#(reset)}"#
            try home.write(CodexLines.name(1), CodexLines.row(observed, #"{"primary":\#(window)}"#))
        },
        .init("Codex, an individual limit", "codex") { home, percent, reset in
            let limit = #"{"used":\#(percent),"limit":100,"resets_at":\#(reset)}"#
            try home.write(
                CodexLines.name(1),
                CodexLines.row(
                    observed,
                    #"{"primary":{"used_percent":1,"window_minutes":300},"individual_limit":\#(limit)}"#
                ))
        },
        .init("Claude Code, the status line", "claude") { home, percent, reset in
            try ClaudeStatuslineStore(home.environment()).save(
                statusline: statusline(
                    session: "s",
                    #""five_hour":{"used_percentage":\#(percent),"resets_at":\#(reset)}"#),
                at: utc(observed))
        },
        .init("Claude Code, the cache", "claude") { home, percent, reset in
            try home.write(
                ".claude.json",
                #"{"oauthAccount":{"accountUuid":"a","emailAddress":"dev@example.test"},"#
                    + #""cachedUsageUtilization":{"accountUuid":"a","fetchedAtMs":1789731000000,"#
                    + #""utilization":{"five_hour":{"utilization":\#(percent),"resets_at":\#(reset)}}}}"#
            )
        },
        .init("JetBrains AI", "jetbrains") { home, percent, reset in
            let options = [
                ("quotaInfo", #"{"current":\#(percent),"maximum":100}"#),
                ("nextRefill", #"{"next":\#(reset),"tariff":{"duration":"PT5H"}}"#),
            ].map { name, value in
                #"<option name="\#(name)" value="\#(value.replacing("\"", with: "&quot;"))" />"#
            }
            try home.write(
                ".config/JetBrains/IDE/options/AIAssistantQuotaManager2.xml",
                options.joined(separator: "\n"), modified: utc(observed))
        },
        .init("Windsurf", "windsurf") { home, percent, reset in
            let left = 100 - (Double(percent) ?? 0)
            let plan = #"{"dailyRemainingPercent":\#(left),"dailyResetAtUnix":\#(reset)}"#
            try home.writeDatabase(
                ".config/Windsurf/User/globalStorage/state.vscdb",
                "CREATE TABLE ItemTable (key TEXT UNIQUE, value BLOB);"
                    + "INSERT INTO ItemTable VALUES ('\(WindsurfPlan.keys[0])', '\(plan)');",
                modified: utc(observed))
        },
        .init("a document of another program", "plugins") { home, percent, reset in
            try home.write(
                String(PluginFile.directory(home.environment()).dropFirst(home.path.count + 1)) + "/a.json",
                #"{"provider":"kimi","usage":{"updatedAt":"\#(observed)","primary":"#
                    + #"{"usedPercent":\#(percent),"windowMinutes":300,"resetsAt":\#(reset)}}}"#,
                modified: utc(observed))
        },
    ]

    private static let observed = "2026-09-18T11:30:00Z"

    init(_ name: String, _ providerID: String, write: @escaping @Sendable (SampleHome, String, String) throws -> Void) {
        testDescription = name
        self.providerID = providerID
        self.write = write
    }

    /// The windows that are shown, and the reasons why others are not.
    func outcome(
        _ percent: String, _ reset: String
    ) throws -> (card: ProviderUsageSnapshot?, percents: [Double], reasons: [String]) {
        let home = try SampleHome()
        try write(home, percent, reset)
        let reading = home.reading(of: try #require(UsageSources.all.first { $0.providerID == providerID }))
        let bounded = reading.provider.map { SnapshotBounds.bounded($0, at: sampleNow) }
        return (
            bounded, (bounded?.windows ?? []).map(\.usedPercent),
            reading.considered.filter { !$0.isShown }.map(\.reason)
        )
    }
}

@Suite("Numbers that cannot be")
struct ImplausibleReadingTests {
    private static let soon = "1789740900"

    @Test("a plausible window is shown", arguments: WindowWriter.all)
    func plausible(_ writer: WindowWriter) throws {
        if writer.providerID == "windsurf", SQLiteLibrary.installed == nil { return }
        // What is left of a limit is never less than nothing.
        let isRest = writer.providerID == "windsurf"
        for percent in ["0", "36", "100"] + (isRest ? [] : ["105"]) {
            let (_, percents, _) = try writer.outcome(percent, Self.soon)
            #expect(percents.contains(Double(percent) ?? -1), "\(percent)")
        }
    }

    @Test("an impossible percent or reset is no bar, is not exact and is explained", arguments: WindowWriter.all)
    func implausible(_ writer: WindowWriter) throws {
        if writer.providerID == "windsurf", SQLiteLibrary.installed == nil { return }
        // 900 %, a negative one, a time in its place, and more than a number holds.
        var cases = ["900", "-1", "1789740900", "1e300"].map { ($0, Self.soon, "percent") }
        // Years ahead, and later than any calendar.
        cases += ["1899740900", "253402300800000", "9223372036854775807"].map {
            ("36", $0, "reset")
        }
        for (percent, reset, reason) in cases {
            let (card, percents, reasons) = try writer.outcome(percent, reset)
            let place: Comment = "\(percent) until \(reset)"
            #expect(percents.filter { $0 != 1 }.isEmpty, place)
            #expect(percents == [1] || card?.usageDataConfidence == nil, place)
            #expect(card?.budget == nil, place)
            #expect(reasons.contains { $0.contains("the " + reason) }, "\(place): \(reasons)")
        }
    }

    @Test("a window whose reset was over before it was read is no bar", arguments: WindowWriter.all)
    func past(_ writer: WindowWriter) throws {
        if writer.providerID == "windsurf", SQLiteLibrary.installed == nil { return }
        for reset in ["1789700000", "1759700000", "1"] {
            let (_, percents, reasons) = try writer.outcome("36", reset)
            #expect(percents.filter { $0 != 1 }.isEmpty, "\(reset)")
            #expect(!reasons.isEmpty || percents == [1], "\(reset)")
        }
    }
}
