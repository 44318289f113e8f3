import Foundation
import TestSupport
import Testing

/// The built command in homes of its own, with a program `codex`.
@Suite("usage-push that asks Codex", .temporaryHome, .timeLimit(.minutes(5)))
struct AskingTests {
    private let home: TemporaryHome

    init() {
        var home = TemporaryHome.ofTest
        home.variables["PATH"] = home.path + "/bin:/usr/bin:/bin"
        self.home = home
    }

    private static let strace = "/usr/bin/strace"

    private static let login = {
        let claims = Data(#"{"email":"bob@example.test","auth_time":1789700000}"#.utf8).base64EncodedString()
            .replacing("=", with: "")
        return #"{"tokens":{"account_id":"acct-b","id_token":"a.\#(claims).b"}}"#
    }()

    /// Reads its login, as the tool does, and says that 42 % are used.
    private func install() throws {
        try home.file(".codex/auth.json", Self.login)
        let path = try home.file(
            "bin/codex",
            """
            #!/bin/sh
            read login <"$CODEX_HOME/auth.json"
            echo "$login" >>"$HOME/starts"
            read a; read b; read c; read d
            echo '{"id":1,"result":{}}'
            echo '{"id":3,"result":{"rateLimits":{"primary":{"usedPercent":42,"windowDurationMins":300}}}}'
            echo '{"id":2,"result":{"account":{"type":"chatgpt","email":"bob@example.test","planType":"plus"}}}'
            read end

            """)
        chmod(path, 0o755)
    }

    private func config(_ arguments: String...) async throws -> TemporaryHome.Outcome {
        try await home.run("usage-push", ["config"] + arguments)
    }

    private var starts: Int {
        let text = try? String(contentsOfFile: home.path + "/starts", encoding: .utf8)
        return text?.split(separator: "\n").count ?? 0
    }

    private func waitUntilShown(_ isShown: Bool) async throws {
        func has() async throws -> Bool {
            try await home.run("usage-view", ["--json"]).text.contains(#""usedPercent" : 42"#)
        }
        while try await has() != isShown { try Task.checkCancellation() }
    }

    @Test("a tool is allowed, shown and no longer allowed")
    func configuring() async throws {
        let claude = try await config("ask", "claude")
        #expect(claude.status == 64 && claude.errors.contains("rate_limit_event"))
        #expect(claude.errors.contains("get_usage"))
        #expect(try await config("ask", "gemini").status == 64)
        let missing = try await config("ask", "codex")
        #expect(missing.status == 66 && missing.errors.contains("codex is not installed"))
        try install()
        for times in [["--every", "59s"], ["--every", "2d"], ["--when-older", "59s"], ["--every", "x"]] {
            #expect(try await home.run("usage-push", ["config", "ask", "codex"] + times).status == 64)
        }
        let text = "at most every 20m, if the numbers are older than 15m; program \(home.path)/bin/codex\n"
        let allowed = try await config("ask", "codex", "--every", "20m")
        #expect(allowed.text == "usage-push --watch asks codex itself: " + text, "\(allowed.errors)")
        #expect(try await config().text.hasSuffix("ask codex  " + text))
        #expect(try await config("show", "--json").text.contains(#""whenOlder" : 900"#))
        #expect(
            try await home.run("usage-push", ["sources"]).text.contains("not asked yet; next by usage-push --watch"))
        #expect(try await config("ask", "codex", "--off").text == "codex is no longer asked\n")
        #expect(try await config("ask", "codex", "--off").status == 66)
        #expect(try await !config("show", "--json").text.contains("codex"))
        #expect(starts == 0)
    }

    @Test("a running service asks once it is allowed, pushes the answer, and forgets it when it is not any more")
    func watching() async throws {
        try install()
        let pusher = try RunningProgram(home, "usage-push", ["--watch"])
        _ = await pusher.errors.first { $0.contains("change: codex") }
        #expect(starts == 0)
        #expect(try await config("ask", "codex").status == 0)
        try await waitUntilShown(true)
        #expect(starts == 1)
        let listed = try await home.run("usage-push", ["sources", "--provider", "codex"]).text
        #expect(listed.contains("session 42 % used; asked 20") && listed.contains("or later"))
        let json = try await home.run("usage-push", ["sources", "--json"]).text
        #expect(json.contains("Codex itself") && json.contains("session 42 % used; asked 20"))
        #expect(try await config("ask", "codex", "--off").status == 0)
        try await waitUntilShown(false)
        #expect(starts == 1)
        pusher.send(SIGTERM)
        #expect(await pusher.status() == 0)
    }

    @Test(
        "for a question nothing of Codex's is opened by this program, but by Codex alone",
        .enabled(if: FileManager.default.isExecutableFile(atPath: strace)))
    func credentials() async throws {
        try install()
        #expect(try await config("ask", "codex").status == 0)
        let program = try #require(TemporaryHome.program("usage-push")).path
        let log = home.path + "/trace"
        let traced = try RunningProgram(
            home, Self.strace, ["-f", "-y", "-s", "4096", "-e", "trace=%file", "-o", log, program, "--watch"])
        try await waitUntilShown(true)
        let first = try String(contentsOfFile: log, encoding: .utf8).prefix { $0.isNumber }
        kill(try #require(pid_t(first)), SIGTERM)
        #expect(await traced.status() == 0)
        let calls = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").map { line in
            let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
            return (process: String(parts[0]), call: parts.last?.drop { $0 == " " } ?? "")
        }
        let own = try #require(calls.first).process
        let children = Set(calls.filter { $0.process != own && $0.call.hasPrefix("execve(") }.map(\.process))
        let question = try #require(calls.firstIndex { $0.call.hasPrefix(#"execve("/bin/sh""#) })
        // Files of Codex that are opened, in this order: of this program before the question alone.
        let opened = calls.indices.filter {
            calls[$0].call.hasPrefix("open") && calls[$0].call.contains(home.path + "/.codex/")
                && !calls[$0].call.contains("O_DIRECTORY")
        }
        let byThis = opened.filter { !children.contains(calls[$0].process) }
        #expect(byThis.contains { calls[$0].call.contains("auth.json") }, "the source tells accounts apart")
        #expect(byThis.allSatisfy { $0 < question }, "\(byThis.map { calls[$0].call })")
        #expect(opened.contains { $0 > question && children.contains(calls[$0].process) }, "the trace shows children")
    }
}
