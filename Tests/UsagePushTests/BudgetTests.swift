import Foundation
import TestSupport
import Testing

/// Real programs of two machines and a daemon.
@Suite("Budgets of an account", .temporaryHome, .timeLimit(.minutes(5)))
struct BudgetTests {
    private struct Usage: Decodable {
        struct Provider: Decodable {
            struct Window: Decodable {
                var usedPercent: Double
            }

            var id: String
            var windows: [Window]
        }

        var providers: [Provider]
    }

    private func percentages(_ home: TemporaryHome) async throws -> [Double] {
        let text = try await home.output("usage-view", ["--json"])
        let usage = try JSONDecoder().decode(Usage.self, from: Data(text.utf8))
        return usage.providers.filter { $0.id == "budget" }.flatMap(\.windows).map {
            ($0.usedPercent * 10).rounded() / 10
        }
    }

    /// Claude Code's log of a request at $10 for a million tokens.
    private func use(_ tokens: Int, _ home: TemporaryHome, session: String) throws {
        try home.file(
            ".claude/projects/-src-app/\(session).jsonl",
            #"{"type":"assistant","timestamp":"\#(Date().formatted(.iso8601))","sessionId":"\#(session)","requestId":"r"#
                + session
                + #"","message":{"id":"m\#(session)","model":"claude-sonnet-5","usage":{"output_tokens":\#(tokens)}}}"#
                + "\n")
    }

    @Test("what two machines use is one sum in cards, check and the gate of both, until the budget is removed")
    func machines() async throws {
        try await PairedDaemon.withMachines(2) { homes, _ in
            for (index, home) in homes.enumerated() {
                try use([300_000, 500_000][index], home, session: "s\(index)")
            }
            let text = try await homes[0].output("usage-view", ["budget", "set", "10", "--per", "month"])
            #expect(text == "set: $10.00 per month for all tools; the next push shows it\n")
            for home in homes + homes { _ = try await home.output("usage-push", []) }
            for home in homes {
                #expect(try await percentages(home) == [80])
                let listed = try await home.output("usage-view", ["budget"])
                #expect(listed.hasPrefix("1  all tools: 80 %, $8.00 of $10.00 this month"), "\(listed)")
                #expect(try await home.run("usage-view", ["check", "--provider", "budget", "--max", "75"]).status == 1)
            }

            let call = Data(#"{"session_id":"x","hook_event_name":"PreToolUse","cwd":"/tmp","tool_name":"Bash"}"#.utf8)
            _ = try await homes[1].output("usage-view", ["gate", "set", "--at", "75", "--then", "stop"])
            _ = try await homes[1].output("usage-push", [])
            var answer = try await homes[1].run("usage-view", ["gate", "hook", "claude"], input: call)
            #expect(answer.text.isEmpty, "a rule about limits is none about budgets")
            _ = try await homes[1].output(
                "usage-view", ["gate", "set", "--provider", "budget", "--at", "75", "--then", "stop"])
            answer = try await homes[1].run("usage-view", ["gate", "hook", "claude"], input: call)
            #expect(answer.text.contains("Budget all tools Monthly: 80 % used"), "\(answer.text)")

            #expect(
                try await homes[0].output("usage-view", ["budget", "remove", "1"])
                    == "removed: $10.00 per month for all tools\n")
            for home in homes { #expect(try await percentages(home).isEmpty) }
        }
    }

    @Test("a watching pusher shows a budget when it is set, although nothing is used, and warns when half is spent")
    func watching() async throws {
        let home = TemporaryHome.ofTest
        try use(300_000, home, session: "s")
        let warn = try home.file("warn", "#!/bin/sh\ncat >> \"$HOME/alerts\"\n")
        chmod(warn, 0o700)
        _ = try await home.output("usage-push", ["alerts", "enable", "command", warn])
        let pusher = try RunningProgram(home, "usage-push", ["--watch"])
        var lines = pusher.errors.makeAsyncIterator()
        func wait(for texts: Set<String>) async throws {
            var awaited = texts
            while !awaited.isEmpty {
                let line = try #require(await lines.next(), "the program ended before it said \(awaited)")
                awaited = awaited.filter { !line.contains($0) }
            }
        }
        try await wait(for: ["change: claude", "alerts go to command"])
        _ = try await home.output("usage-view", ["budget", "set", "10", "--per", "month"])
        try await wait(for: ["budget 30 %"])
        #expect(try await percentages(home) == [30])
        try use(400_000, home, session: "t")
        try await wait(for: ["alert: Budget · Monthly: 70 % used"])
        pusher.interrupt()
        #expect(await pusher.status() == 0)
    }
}
