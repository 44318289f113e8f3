import Foundation
import TestSupport

/// A home with a price list of its own, so that a new one of the package changes no expectation.
struct ReportHome {
    let home: TemporaryHome

    init() throws {
        home = try TemporaryHome()
        try home.file(
            ".config/ubiquity/prices.json",
            """
            {"models": {
              "claude-opus-5": {"input": 5, "output": 25, "cacheRead": 0.5, "cacheWrite5m": 6.25},
              "claude-sonnet-5": {"input": 2, "output": 10, "cacheRead": 0.2, "cacheWrite5m": 2.5}
            }}
            """)
    }

    static func with(_ body: (ReportHome) async throws -> Void) async throws {
        let home = try ReportHome()
        defer { home.home.remove() }
        try await body(home)
    }

    /// Reports what is in this home.
    func report(_ arguments: String...) async throws -> TemporaryHome.Outcome {
        try await report(arguments)
    }

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
                "id": id, "model": model,
                "usage": ["input_tokens": input, "output_tokens": 100],
            ] as [String: Any],
        ]
        let text = String(decoding: try JSONSerialization.data(withJSONObject: line), as: UTF8.self)
        try home.file(".claude/projects/\(project)/\(id).jsonl", text + "\n")
    }

    static func fixture(_ name: String) -> URL {
        URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("fixtures/" + name)
    }
}
