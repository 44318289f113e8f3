import Foundation
import TestSupport

/// A home with a price list of its own, so that a new one of the package changes no expectation.
struct ReportHome {
    let home: TemporaryHome

    init(_ home: TemporaryHome = .ofTest) throws {
        self.home = home
        try home.file(
            ".config/ubiquity/prices.json",
            """
            {"models": {
              "claude-opus-5": {"input": 5, "output": 25, "cacheRead": 0.5, "cacheWrite5m": 6.25},
              "claude-sonnet-5": {"input": 2, "output": 10, "cacheRead": 0.2, "cacheWrite5m": 2.5}
            }}
            """)
    }

    /// Reports what is in this home.
    func report(_ arguments: String...) async throws -> TemporaryHome.Outcome { try await report(arguments) }

    func report(_ arguments: [String]) async throws -> TemporaryHome.Outcome {
        try await home.run("usage-push", ["report"] + arguments)
    }

    /// Adds a reply in a transcript of its own.
    func reply(
        _ time: String, id: String, model: String = "claude-opus-5", session: String = "s1",
        project: String = "-home-dev-app", input: Int = 1_000
    ) throws {
        let line: [String: Any] = [
            "type": "assistant", "sessionId": session, "timestamp": time, "requestId": "r" + id,
            "message": [
                "id": id, "model": model, "usage": ["input_tokens": input, "output_tokens": 100],
            ] as [String: Any],
        ]
        let text = String(decoding: try JSONSerialization.data(withJSONObject: line), as: UTF8.self)
        try home.file(".claude/projects/\(project)/\(id).jsonl", text + "\n")
    }
}
