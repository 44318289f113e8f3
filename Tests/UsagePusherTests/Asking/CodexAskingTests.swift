import Commands
import Foundation
import LocalFiles
import Testing

@testable import UsagePusher

/// A home with a program `codex`, which is asked as `usage-push --watch` does.
private final class AskedHome {
    let home: SampleHome
    let codex: String
    private let environment: SourceEnvironment

    /// Reads what it is told, and answers.
    static let answering = """
        read a; read b; read c; read d
        echo '{"id":1,"result":{}}'
        echo '{"id":2,"result":{"account":{"type":"chatgpt","email":null,"planType":"plus"}}}'
        echo '{"id":3,"result":{"rateLimits":{"primary":{"usedPercent":42,"windowDurationMins":300}}}}'

        """

    init() throws {
        home = try SampleHome()
        try home.createDirectory(".codex")
        codex = home.path("bin/codex")
        environment = home.environment(["PATH": "/usr/bin:/bin", "UBIQUITY_TOKEN": "hidden", "HTTPS_PROXY": "http://p"])
    }

    /// Asks a program with these lines; nil for no program.
    @discardableResult
    func ask(_ lines: String?, seconds: Double = 60, cancelled: Bool = false) throws -> CodexAskState {
        if let lines {
            try home.write("bin/codex", "#!/bin/sh\n" + lines)
            chmod(codex, 0o755)
        }
        let settings = try #require(AskSettings(every: 60, whenOlder: 60, program: codex))
        let asking = CodexAsking(environment, limits: .init(seconds: seconds))
        asking.ask(home.path(".codex"), settings, dueAt: .distantFuture, isCancelled: { cancelled })
        return try #require(state)
    }

    var state: CodexAskState? { CodexAsking.state(of: home.path(".codex"), in: environment) }
    var path: String { CodexAsking.path(of: home.path(".codex"), in: environment) }
}

/// With real processes.
@Suite("Asking Codex", .timeLimit(.minutes(2)))
struct CodexAskingTests {
    private let asked: AskedHome

    init() throws { asked = try AskedHome() }

    @Test("the input stays open until the answers are there, and the program may end by itself then")
    func answer() throws {
        let ended = asked.home.path("ended")
        let state = try asked.ask(
            "[ \"$1\" = app-server ] || exit 1\npwd >'\(ended).env'; env >>'\(ended).env'\n" + AskedHome.answering
                + "cat >'\(ended)'\n")
        #expect(state.failure == nil && state.failureCount == 0)
        #expect(state.answer?.readings.map(\.windows.first?.usedPercent) == [42])
        #expect(FileManager.default.contents(atPath: ended) == Data())
        #expect(try FileStatus(path: asked.path)?.permissions == 0o600)
        let lines = try String(contentsOfFile: ended + ".env", encoding: .utf8).split(separator: "\n")
        #expect(lines.first == "/" && lines.contains("CODEX_HOME=\(asked.home.path(".codex"))"))
        #expect(lines.contains("HTTPS_PROXY=http://p") && !lines.contains { $0.contains("UBIQUITY") })
    }

    @Test("one that hangs is killed with its children, and an earlier answer stays")
    func hanging() throws {
        try asked.ask(AskedHome.answering)
        let presence = Presence(asked.home.path("presence"))
        let state = try asked.ask(
            """
            trap '' TERM
            exec 3>'\(presence.path)'
            (while :; do sleep 1; done) &
            while :; do sleep 1; done
            """, seconds: 1)
        presence.waitForEnd()
        #expect(state.failure == "no answer within 1 s" && state.failureCount == 1 && state.answer != nil)
    }

    @Test("why there is no answer is said, and failures in a row are counted")
    func failures() throws {
        #expect(try asked.ask(nil).failure?.hasPrefix("codex is not installed (no \(asked.codex);") == true)
        let ended = try asked.ask("echo 'cannot start: key=abcdef' >&2; exit 3")
        #expect(ended.failure == "it ended with status 3 before it answered: cannot start: key=[hidden]")
        let endless = try asked.ask("while :; do echo '{\"method\":\"m\",\"params\":\"0123456789\"}'; done")
        #expect(endless.failure == "stopped, since it printed more than 1 MiB" && endless.failureCount == 3)
        let login = try asked.ask(
            """
            echo '{"id":2,"result":{"account":null}}'; echo '{"id":3,"error":{"message":"authentication required"}}'
            """)
        #expect(login.failure == "not signed in" && login.failureCount == 4)
        #expect(try asked.ask(AskedHome.answering).failureCount == 0)
    }

    @Test("a logout drops the earlier answer")
    func logout() throws {
        try asked.ask(AskedHome.answering)
        let state = try asked.ask(
            "echo '{\"id\":2,\"result\":{\"account\":null}}'; echo '{\"id\":3,\"error\":{\"message\":\"\"}}'")
        #expect(state.failure == "not signed in" && state.answer == nil)
    }

    @Test("only one process asks at a time, and what is stopped is no failure")
    func turns() throws {
        let stopped = try asked.ask("sleep 60", cancelled: true)
        #expect(stopped.failure == "stopped before it answered" && stopped.failureCount == 0)
        let lock = try FileLock(LocalFile(asked.path).directory.path + "/codex.lock")
        try lock.lock()
        #expect(try asked.ask(AskedHome.answering).answer == nil)
        lock.unlock()
        #expect(try asked.ask(AskedHome.answering).answer != nil)
    }
}
