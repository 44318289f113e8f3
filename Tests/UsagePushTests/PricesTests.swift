import Foundation
import ProgramTesting
import Testing

/// The built command in homes of its own.
@Suite("usage-push prices", .timeLimit(.minutes(5)))
struct PricesTests {
    private func withHome(_ body: (TemporaryHome) async throws -> Void) async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        try await body(home)
    }

    @Test("a model is listed with its prices, and a model without is named")
    func listing() async throws {
        try await withHome { home in
            let outcome = try await home.run(
                "usage-push", ["prices", "openai/gpt-5.5", "claude-opus-9\u{1B}"])
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
    }

    @Test("the user's file counts, and its mistakes are reported")
    func ownFile() async throws {
        try await withHome { home in
            try home.file(
                ".config/ubiquity/prices.json",
                #"{"models": {"gpt-5.5": {"input": 1, "output": 2}, "x": {"input": -1}}}"#)
            let outcome = try await home.run("usage-push", ["prices", "gpt-5.5", "--json"])
            #expect(outcome.status == 0)
            #expect(
                outcome.errors.contains(
                    "/.config/ubiquity/prices.json: models.x.input is negative; correct it"))
            let document = try #require(
                try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any])
            let models = try #require(document["models"] as? [[String: Any]])
            #expect(models.count == 1 && models[0]["isOwn"] as? Bool == true)
            #expect((document["digest"] as? String)?.count == 16)
            let text = try await home.run("usage-push", ["prices", "gpt-5.5"])
            #expect(text.text.contains("your own prices: 1 in ~/.config/ubiquity/prices.json"))
        }
    }
}
