import Foundation
import TestSupport
import Testing

/// Real programs of two machines and a daemon.
@Suite("Projects and what is forgotten of past usage", .temporaryHome, .timeLimit(.minutes(5)))
struct PastProjectTests {
    /// What Codex used today in a repository: a thousand tokens.
    private func use(_ repository: String, _ home: TemporaryHome, _ session: String) throws {
        try home.file(
            "src/\(repository)/.git/config", "[remote \"origin\"]\n\turl = git@example.com:owner/\(repository).git\n")
        let time = Date().formatted(.iso8601)
        try home.file(
            ".codex/sessions/2026/11/20/rollout-\(session).jsonl",
            #"{"timestamp":"\#(time)","type":"session_meta","payload":{"id":"\#(session)","cwd":"\#(home.path)/src/\#(repository)"}}"#
                + "\n" + #"{"timestamp":"\#(time)","type":"event_msg","payload":{"type":"token_count","info":{"#
                + #""total_token_usage":{"input_tokens":900,"output_tokens":100,"total_tokens":1000},"#
                + #""last_token_usage":{"input_tokens":900,"output_tokens":100,"total_tokens":1000}},"#
                + #""rate_limits":{"primary":{"used_percent":1,"window_minutes":300,"resets_in_seconds":9000}}}}"#
                + "\n")
    }

    private func push(_ home: TemporaryHome) async throws {
        let outcome = try await home.run("usage-push", [])
        try #require(outcome.status == 0 || outcome.errors.contains("nothing to push"), "\(outcome.errors)")
    }

    /// The tokens of all machines by project.
    private func projects(_ home: TemporaryHome) async throws -> [String: Int] {
        struct Report: Decodable {
            struct Row: Decodable {
                var period: String
                var totalTokens: Int
            }
            var projects: [Row]
        }
        let outcome = try await home.run("usage-view", ["report", "project", "--json"])
        try #require(outcome.status == 0, "\(outcome.errors)")
        return try JSONDecoder().decode(Report.self, from: Data(outcome.text.utf8)).projects
            .reduce(into: [:]) { $0[$1.period] = $1.totalTokens }
    }

    @Test("what is forgotten stays so when a machine comes back with its cache, until that is undone")
    func machines() async throws {
        try await PairedDaemon.withMachines(2) { homes, daemon in
            for (index, home) in homes.enumerated() {
                try use("app", home, "a\(index)")
                try use("secret", home, "s\(index)")
            }
            try await push(homes[0])
            #expect(try await projects(homes[0]) == ["owner/app": 1_000, "owner/secret": 1_000])

            var outcome = try await homes[0].run("usage-view", ["forget", "--project", "owner/secret"])
            #expect(outcome.status == 64 && outcome.errors.contains("add --yes to forget"), "\(outcome.errors)")
            #expect(outcome.text.hasPrefix("removes 1,000 tokens, $"), "\(outcome.text)")
            outcome = try await homes[0].run("usage-view", ["forget", "--project", "owner/other", "--yes"])
            #expect(outcome.status == 64 && outcome.errors.contains("no past usage of a project 'owner/other'"))
            outcome = try await homes[0].run("usage-view", ["forget", "--project", "owner/secret", "--yes"])
            #expect(
                outcome.status == 0 && outcome.text.contains("forgotten; to undo:"), "\(outcome.text)\(outcome.errors)")
            #expect(try await projects(homes[0]) == ["owner/app": 1_000])

            // The other machine was away, and has the same project in its logs, then in its cache alone.
            try await push(homes[1])
            for home in homes { #expect(try await projects(home) == ["owner/app": 2_000]) }
            for home in homes {
                try FileManager.default.removeItem(atPath: home.path + "/.codex/sessions/2026/11/20")
                try await push(home)
            }
            for home in homes { #expect(try await projects(home) == ["owner/app": 2_000]) }

            let list = try await homes[1].run("usage-view", ["forget", "--list"]).text
            let id = try #require(list.split(separator: " ").first.map(String.init))
            #expect(list.contains("project owner/secret  until 20"), "\(list)")
            outcome = try await homes[1].run("usage-view", ["forget", "--undo", id])
            #expect(outcome.status == 0 && outcome.text.hasPrefix("undone"), "\(outcome.errors)")
            #expect(try await homes[1].run("usage-view", ["forget", "--list"]).text == "nothing is forgotten\n")
            for index in 0..<2 {
                try use("app", homes[index], "b\(index)")
                try await push(homes[index])
            }
            for home in homes { #expect(try await projects(home) == ["owner/app": 4_000, "owner/secret": 2_000]) }

            // A machine that is removed: its pages are rewritten here.
            outcome = try await daemon.home.run("kvsd", ["device", "remove", "m1"])
            try #require(outcome.status == 0, "\(outcome.errors)")
            let before = try await homes[0].kvs("export", "--store", "usage-ledger").text
            outcome = try await homes[0].run("usage-view", ["forget", "--project", "owner/app", "--yes"])
            try #require(outcome.status == 0, "\(outcome.errors)")
            #expect(try await projects(homes[0]) == ["owner/secret": 2_000])
            let after = try await homes[0].kvs("export", "--store", "usage-ledger").text
            #expect(pages(before).subtracting(pages(after)).count >= 2)
        }
    }

    @Test(
        "projects that are merged, renamed and hidden are so on all machines: in reports, budgets and what is forgotten"
    )
    func projectRules() async throws {
        try await PairedDaemon.withMachines(2) { homes, _ in
            try use("app", homes[0], "a0")
            try use("old", homes[0], "o0")
            try use("old", homes[1], "o1")
            try use("secret", homes[1], "s1")
            func pushAll() async throws { for home in homes + homes { try await push(home) } }
            /// The sums are the same on both machines; names are known where a project is.
            func expect(_ expected: [String: Int], _ source: SourceLocation = #_sourceLocation) async throws {
                for home in homes {
                    let found = try await projects(home)
                    #expect(found.values.sorted() == expected.values.sorted(), sourceLocation: source)
                    for (name, tokens) in found where !name.hasPrefix("#") {
                        #expect(expected[name] == tokens, "\(name)", sourceLocation: source)
                    }
                }
            }
            try await pushAll()
            try await expect(["owner/app": 1_000, "owner/old": 2_000, "owner/secret": 1_000])

            let budget = ["budget", "set", "4k", "--tokens", "--per", "month", "--project", "owner/app"]
            _ = try await homes[0].output("usage-view", budget)
            #expect(
                try await homes[0].output("usage-view", ["project", "merge", "owner/old", "owner/app"])
                    == "owner/old counts as owner/app\n")
            _ = try await homes[0].output("usage-view", ["project", "rename", "owner/app", "Backend"])
            _ = try await homes[1].output("usage-view", ["project", "hide", "owner/secret"])
            try await pushAll()
            try await expect(["Backend": 3_000, "hidden": 1_000])
            for home in homes {
                let text = try await home.output("usage-view", ["budget"])
                #expect(text.hasPrefix("1  Backend: 75 %, 3k of 4k tokens this month"), "\(text)")
            }
            let gate = ["gate", "set", "--provider", "budget", "--at", "75", "--then", "stop"]
            _ = try await homes[1].output("usage-view", gate)
            try await push(homes[1])
            for (repository, isStopped) in [("old", true), ("secret", false)] {
                let directory = "\(homes[1].path)/src/\(repository)"
                let call =
                    #"{"session_id":"x","hook_event_name":"PreToolUse","cwd":"\#(directory)","tool_name":"Bash"}"#
                let answer = try await homes[1].run("usage-view", ["gate", "hook", "codex"], input: Data(call.utf8))
                #expect(answer.text.contains("75 % used") == isStopped, "\(repository): \(answer.text)\(answer.errors)")
            }

            let list = try await homes[0].output("usage-view", ["project"])
            #expect(list.contains("owner/old, counts as Backend\n") && list.contains("hidden\n"), "\(list)")
            #expect(list.contains("Backend, originally owner/app\n"), "\(list)")
            for arguments in [
                ["merge", "Backend", "owner/old"], ["rename", "Backend", "a\u{1B}"], ["show", "other"],
                ["rename", "Backend", "owner/old"], ["rename", "Backend", "hidden"],
            ] {
                #expect(try await homes[0].run("usage-view", ["project"] + arguments).status == 64, "\(arguments)")
            }
            _ = try await homes[0].output("usage-view", ["forget", "--project", "Backend", "--yes"])
            try await pushAll()
            try await expect(["hidden": 1_000])

            _ = try await homes[0].output("usage-view", ["project", "split", "owner/old"])
            _ = try await homes[1].output("usage-view", ["project", "show", "owner/secret"])
            try await expect(["owner/secret": 1_000])
        }
    }

    /// The lines of an export that have values of pages.
    private func pages(_ export: String) -> Set<Substring> {
        Set(export.split(separator: "\n").filter { $0.count > 60 })
    }
}
