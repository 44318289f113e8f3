import Foundation
import TestSupport
import Testing

/// The built command where one of several logs cannot be read.
@Suite("usage-push says what it could not read", .temporaryHome, .timeLimit(.minutes(5)))
struct UnreadableTests {
    private static let directory = ".codex/sessions/2026/09/18/"

    private static func line(_ used: Int, hoursAgo: Double, resetsIn hours: Double) -> String {
        let now = Date()
        let reset = Int(now.addingTimeInterval(hours * 3_600).timeIntervalSince1970)
        let time = now.addingTimeInterval(-hoursAgo * 3_600).formatted(.iso8601)
        return #"{"timestamp":"\#(time)","type":"event_msg","payload":{"type":"token_count","#
            + #""info":{"last_token_usage":{"input_tokens":100,"output_tokens":5},"#
            + #""total_token_usage":{"input_tokens":100,"output_tokens":5}},"rate_limits":"#
            + #"{"primary":{"used_percent":\#(used),"window_minutes":300,"resets_at":\#(reset)},"#
            + #""secondary":{"used_percent":9,"window_minutes":10080,"resets_at":\#(reset + 86_400)}}}}"#
            + "\n"
    }

    private let home = TemporaryHome.ofTest

    /// A session whose window has been reset, and a newer one that nobody may read.
    init() throws {
        try home.file(Self.directory + "rollout-a.jsonl", Self.line(36, hoursAgo: 3, resetsIn: -1))
        let newer = try home.file(Self.directory + "rollout-b.jsonl", Self.line(80, hoursAgo: 1, resetsIn: 4))
        if getuid() == 0 {
            try FileManager.default.removeItem(atPath: newer)
            try FileManager.default.createSymbolicLink(atPath: newer, withDestinationPath: "rollout-b.jsonl")
        } else {
            chmod(newer, 0)
        }
    }

    @Test("a push names it on the card, in its line and by its status")
    func push() async throws {
        let outcome = try await home.run("usage-push", [])
        #expect(outcome.status == 1)
        #expect(outcome.text.hasPrefix("pushed codex 9 %, incomplete: Codex"))
        #expect(outcome.errors.contains("rollout-b.jsonl: cannot be read: "))
        let printed = try await home.run("usage-push", ["--print"])
        #expect(printed.status == 1)
        #expect(printed.text.contains("Numbers may be missing: "))
        #expect(!printed.text.contains("reset since"))
        let file = home.path + "/" + Self.directory + "rollout-b.jsonl"
        try FileManager.default.removeItem(atPath: file)
        let complete = try await home.run("usage-push", [])
        #expect(complete.status == 0 && !complete.text.contains("incomplete"))
    }

    @Test("so do the listings of sources and of readings, and reports in both forms")
    func listings() async throws {
        let sources = try await home.run("usage-push", ["sources"]).text
        #expect(sources.contains("rollout-b.jsonl") && sources.contains("1 unreadable"))
        #expect(!sources.contains("reset since"))
        let explained = try await home.run("usage-push", ["explain", "codex"])
        #expect(explained.errors.contains("rollout-b.jsonl: cannot be read: "))
        let table = try await home.run("usage-push", ["report"])
        #expect(table.status == 0 && table.text.contains("incomplete: codex:"))
        let json = try await home.run("usage-push", ["report", "--json"])
        let document = try #require(try JSONSerialization.jsonObject(with: json.output) as? [String: Any])
        let incomplete = try #require(document["incomplete"] as? [String])
        #expect(incomplete.count == 1 && incomplete[0].contains("rollout-b.jsonl"))
    }

    @Test("nothing to push is not taken for no limits")
    func nothing() async throws {
        let file = home.path + "/" + Self.directory
        try FileManager.default.removeItem(atPath: file + "rollout-a.jsonl")
        let outcome = try await home.run("usage-push", ["--provider", "gemini"])
        #expect(outcome.status == 66 && outcome.errors.contains("no files of Gemini"))
        let codex = try await home.run("usage-push", ["--print"])
        #expect(codex.status == 1 && codex.text.contains("\"isError\":true"))
    }
}
