import Foundation
import TestSupport
import Testing

/// The built command in homes of its own.
@Suite("usage-push prices", .temporaryHome, .timeLimit(.minutes(5)))
struct PricesTests {
    private let home = TemporaryHome.ofTest

    @Test("a model is listed with its prices, and a model without is named")
    func listing() async throws {
        let outcome = try await home.run("usage-push", ["prices", "openai/gpt-5.5", "claude-opus-9\u{1B}"])
        #expect(outcome.status == 66)
        let lines = outcome.text.split(separator: "\n")
        let words = lines.map { $0.split(separator: " ").map(String.init) }
        try #require(lines.count == 6)
        #expect(words[1].prefix(6) == ["gpt-5.5", "5", "30", "0.5", "–", "–"])
        #expect(words[2].prefix(5) == [">", "272k", "10", "45", "1"])
        #expect(words[3].prefix(4) == ["priority", "12.5", "75", "1.25"])
        #expect(lines[4].hasPrefix("US dollars per million tokens"))
        #expect(lines[5] == "no prices of your own in ~/.config/ubiquity/prices.json")
        #expect(outcome.errors.contains("no price of claude-opus-9"))
        #expect(!outcome.errors.contains("\u{1B}"))
    }

    @Test("what has no price is listed with its tokens, share and the lines that set one")
    func unpriced() async throws {
        func reply(_ id: String, _ model: String, _ tokens: Int) -> String {
            #"{"type":"assistant","timestamp":"2026-09-18T09:00:00Z","sessionId":"s","requestId":"\#(id)","#
                + #""message":{"id":"\#(id)","model":"\#(model)","usage":{"input_tokens":\#(tokens)}}}"#
                + "\n"
        }
        try home.file(
            ".claude/projects/p/s.jsonl",
            reply("a", "claude-opus-5", 60) + reply("b", "kimi-for-coding", 30)
                + reply("c", "new-model", 10))
        let outcome = try await home.run("usage-push", ["prices", "--unpriced"])
        let rows = outcome.text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(outcome.status == 0)
        #expect(
            rows.dropFirst().prefix(3) == [
                "kimi-for-coding claude 1 30 30 % model", "new-model claude 1 10 10 % model", "TOTAL 2 40 40 %",
            ])
        #expect(outcome.text.contains("this to ~/.config/ubiquity/prices.json"))
        let document = try #require(outcome.text.firstIndex(of: "{"))
        try home.file(".config/ubiquity/prices.json", String(outcome.text[document...]).replacing("null", with: "2"))
        let priced = try await home.run("usage-push", ["prices", "--unpriced"])
        #expect(priced.errors == "" && priced.text.hasPrefix("every request has a price"))
        let json = try await home.run("usage-push", ["prices", "--unpriced", "--json", "--provider", "claude"])
        #expect(json.text.contains("\"share\" : 0"))
        for wrong in [["--unpriced", "gpt-5"], ["--provider", "claude"]] {
            #expect(try await home.run("usage-push", ["prices"] + wrong).status == 64)
        }
    }

    @Test("the user's file counts, and its mistakes are reported")
    func ownFile() async throws {
        try home.file(
            ".config/ubiquity/prices.json", #"{"models": {"gpt-5.5": {"input": 1, "output": 2}, "x": {"input": -1}}}"#)
        let outcome = try await home.run("usage-push", ["prices", "gpt-5.5", "--json"])
        #expect(outcome.status == 0)
        #expect(outcome.errors.contains("/.config/ubiquity/prices.json: models.x.input is negative; correct it"))
        let document = try #require(try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any])
        let models = try #require(document["models"] as? [[String: Any]])
        #expect(models.count == 1 && models[0]["isOwn"] as? Bool == true)
        #expect((document["digest"] as? String)?.count == 16)
        let text = try await home.run("usage-push", ["prices", "gpt-5.5"])
        #expect(text.text.contains("your own prices: 1 in ~/.config/ubiquity/prices.json"))
    }
}
