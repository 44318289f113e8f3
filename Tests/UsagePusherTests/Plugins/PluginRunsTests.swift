import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

/// With real processes.
@Suite("Runs of plug-ins", .timeLimit(.minutes(2)))
struct PluginRunsTests {
    private let home: PluginHome

    init() throws { home = try PluginHome() }

    @Test("a document counts whatever the exit status is")
    func exitStatus() throws {
        let detail = try home.outcome(
            of: "echo 'first line' >&2; echo second >&2; echo '\(PluginHome.document)'; exit 3")
        #expect(detail == "zai 12 %; exit status 3: first line")
        let card = try #require(home.reading().provider)
        #expect(card.providerID == "zai" && card.providerName == "z.ai")
        #expect(card.percents == [12])
    }

    @Test("one that hangs, ignores SIGTERM and has children is killed with them")
    func hanging() throws {
        let presence = Presence(home.home.path("presence"))
        let detail = try home.outcome(
            of: """
                trap '' TERM
                exec 3>'\(presence.path)'
                (while :; do sleep 1; done) &
                while :; do sleep 1; done
                """, timeout: 1)
        #expect(detail == "stopped after 1 s")
        presence.waitForEnd()
    }

    @Test("a child that keeps the pipe open is not waited for, and killed")
    func child() throws {
        let presence = Presence(home.home.path("presence"))
        let detail = try home.outcome(
            of: """
                exec 3>'\(presence.path)'
                (while :; do sleep 1; done) &
                echo '\(PluginHome.document)'
                """)
        #expect(detail == "zai 12 %")
        presence.waitForEnd()
    }

    @Test("one that prints for ever is stopped at the limit")
    func endless() throws {
        #expect(
            try home.outcome(of: "while :; do echo '\(PluginHome.document)'; done")
                == "stopped, since it printed more than 1 MiB")
        #expect(home.reading().providers.isEmpty)
    }

    @Test("of errors the first line is said, bounded and without tokens")
    func errors() throws {
        let token = "abcdef0123456789abcdef0123456789"
        let detail = try home.outcome(
            of: """
                printf '\\n\\033[31mtoken: \(token) is wrong\\n' >&2
                i=0; while [ $i -lt 3000 ]; do echo more and more lines >&2; i=$((i + 1)); done
                exit 1
                """)
        #expect(detail == "exit status 1: [31mtoken: [hidden] is wrong")
    }

    @Test("no document, an interpreter that is missing and a signal are failures")
    func failures() throws {
        #expect(try PluginHome().outcome(of: "echo hello") == "it printed no JSON document")
        #expect(try PluginHome().outcome(of: "kill -9 $$") == "exit status 137")
        let path = try home.script("plugin", "")
        try Data("#!/no/such/interpreter\n".utf8).write(to: URL(filePath: path))
        chmod(path, 0o755)
        try home.enable("plugin")
        home.run()
        #expect(home.detail("plugin").hasPrefix("exit status 12"))
    }

    @Test("it gets an empty input and a short environment")
    func environment() throws {
        let output = home.home.path("output")
        _ = try home.outcome(of: "{ cat; env; pwd; } >'\(output)'")
        let lines = try String(contentsOfFile: output, encoding: .utf8).split(separator: "\n")
        #expect(lines.contains("HOME=\(home.home.path)") && lines.contains("PATH=/usr/bin:/bin"))
        #expect(!lines.contains { $0.contains("API_TOKEN") })
        #expect(lines.contains("/"))
    }

    @Test("a plug-in that hangs does not keep another from giving its numbers")
    func others() throws {
        try home.script("hangs", "while :; do sleep 1; done")
        try home.script("works", "echo '\(PluginHome.document)'")
        try home.enable("hangs", timeout: 1)
        try home.enable("works")
        home.run()
        #expect(home.detail("hangs") == "stopped after 1 s")
        #expect(home.detail("works") == "zai 12 %")
    }

    @Test("it runs once in its interval, and the numbers of a failed run stay those of the last good one")
    func interval() throws {
        try home.script("plugin", "echo run >>'\(home.home.path("count"))'; echo '\(PluginHome.document)'")
        try home.enable("plugin")
        home.run()
        home.run()
        #expect(try String(contentsOfFile: home.home.path("count"), encoding: .utf8) == "run\n")

        var outcome = try #require(try PluginOutcome.read("plugin", in: home.environment))
        outcome.ranAt -= 301
        try outcome.write("plugin", in: home.environment)
        try home.script("plugin", "echo '{\"provider\":\"cli\",\"error\":{\"message\":\"offline\"}}'")
        home.run()
        #expect(home.detail("plugin") == "zai 12 %; CodexBar: offline")
        outcome.ranAt += 10_000
        try outcome.write("plugin", in: home.environment)
        try home.script("plugin", "exit 4")
        home.run()
        #expect(home.detail("plugin") == "zai 12 %; exit status 4")
    }

    @Test("a cancelled run ends at once and leaves no outcome")
    func cancelled() throws {
        try home.script("plugin", "while :; do sleep 1; done")
        try home.enable("plugin")
        home.run(isCancelled: { true })
        #expect(try PluginOutcome.read("plugin", in: home.environment) == nil)
    }
}
