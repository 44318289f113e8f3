import Foundation
import TestSupport
import Testing

/// The built command in homes of its own.
@Suite("usage-push sources", .temporaryHome, .timeLimit(.minutes(5)))
struct SourcesTests {
    private let home = TemporaryHome.ofTest

    private static let task =
        #"[{"ts": 1789639200000, "type": "say", "say": "api_req_started", "text": "{\"tokensIn\":100,\"tokensOut\":50}"}, {"ts": 1, "say": "api_req_started", "text": "{\"tokensIn\":-1}"}]"#

    private static let storage = ".config/Code/User/globalStorage/saoudrizwan.claude-dev"

    @Test("a tool that states tokens has a line, and the JSON its sums")
    func tokens() async throws {
        try home.file(Self.storage + "/tasks/1/ui_messages.json", Self.task)
        for _ in 0..<2 {
            let text = try await home.run("usage-push", ["sources"]).text
            let line = text.split(separator: "\n").first { $0.hasPrefix("cline") && $0.contains("150") }
            #expect(
                line?.split(separator: " ").map(String.init) == [
                    "cline", "1", "150", "2026-09-17", "1", "1", "invalid", "record",
                ])
            #expect(text.contains("not found: Claude"))
            #expect(!text.contains("not found: Cline"))
        }
        let json = try await home.run("usage-push", ["sources", "--json"])
        let document = try #require(try JSONSerialization.jsonObject(with: json.output) as? [String: Any])
        let sources = try #require(document["sources"] as? [[String: Any]])
        let cline = try #require(sources.first { $0["providerID"] as? String == "cline" })
        let tokens = try #require(cline["tokens"] as? [String: Any])
        #expect(tokens["totalTokens"] as? Int == 150 && tokens["requests"] as? Int == 1)
        #expect(tokens["isPartial"] as? Bool == false)
        #expect(sources.filter { $0["tokens"] != nil }.count == 1)
    }

    @Test("an empty home is one sentence, and --all lists every place")
    func empty() async throws {
        let outcome = try await home.run("usage-push", ["sources"])
        #expect(outcome.status == 0)
        #expect(outcome.text.hasPrefix("not found: Claude, Codex, JetBrains AI, "))
        let all = try await home.run("usage-push", ["sources", "--all"]).text
        #expect(all.contains("    ~/.codex/sessions\n"))
        let one = try await home.run("usage-push", ["sources", "--provider", "kiro"]).text
        #expect(one.hasPrefix("not found: Kiro, looked for in\n    ~/.kiro/sessions\n"))
    }

    @Test("another home is read without tokens, and nothing is written there")
    func otherHome() async throws {
        let other = try home.directory("other")
        try home.file("other/" + Self.storage + "/tasks/1/ui_messages.json", Self.task)
        let text = try await home.run("usage-push", ["sources", "--home", other]).text
        #expect(text.contains("Cline usage") && !text.contains("TOKENS OF"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: other) == [".config"])
    }
}
