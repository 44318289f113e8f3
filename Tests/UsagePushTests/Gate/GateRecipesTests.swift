import Foundation
import StoreTestSupport
import TestSupport
import Testing

/// The recipes of `docs/gate.md`, line by line, with the real programs and a script for the agent.
@Suite("Recipes of docs/gate.md", .temporaryHome, .timeLimit(.minutes(5)))
struct GateRecipesTests {
    private let here = RunHome()
    private var home: TemporaryHome { here.home }

    /// The lines of the block behind a title.
    private static func lines(_ title: String) throws -> [String] {
        let parts = try Repository.text("docs/gate.md").components(separatedBy: "**" + title)
        let blocks = try #require(parts.count == 2 ? parts[1] : nil).components(separatedBy: "```")
        return try #require(blocks.count > 2 ? blocks[1] : nil).split(separator: "\n")
            .map(String.init).filter { $0 != "sh" }
    }

    private static func shell(_ line: String, _ home: TemporaryHome) throws -> [String] {
        let programs = try #require(TemporaryHome.program("usage-push")).deletingLastPathComponent().path
        return ["-c", "PATH=\"$HOME/bin:\(programs):$PATH\"; cd \"$HOME\"; \(line)"]
    }

    @discardableResult
    private func run(_ line: String, _ home: TemporaryHome? = nil) async throws -> String {
        let home = home ?? self.home
        let outcome = try await home.run("/bin/sh", Self.shell(line, home))
        #expect(outcome.status == 0, "\(line): \(outcome.errors)")
        return outcome.text
    }

    /// An agent that calls the hook of its settings before it works.
    private func installAgent() throws {
        try home.file(".claude/settings.json", "{}")
        try home.script(
            "claude",
            #"""
            hook=$(python3 -c 'import json, os
            settings = json.load(open(os.path.expanduser("~/.claude/settings.json")))
            print(settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"])')
            printf '{"session_id":"s-234","cwd":"%s","hook_event_name":"PreToolUse"}' "$PWD" | sh -c "$hook" | grep deny && exit
            echo worked
            """#)
    }

    @Test("a rule for all machines stops a week at 95 % on each of them")
    func everywhere() async throws {
        try await GateMachine.withThree { machines, _ in
            let lines = try Self.lines("Stop at 95 % of the week")
            for machine in machines { try await run(lines[0], machine.home) }
            try await run(lines[1], machines[1].home)
            try machines[0].use(94, secondsAgo: 10, minutes: 10_080)
            for machine in machines {
                while try await !run(lines[2], machine.home).contains("94 % used (m0") { try Task.checkCancellation() }
                #expect(try await !machine.call().contains(#""deny""#))
            }
            try machines[0].use(95, minutes: 10_080)
            for machine in machines { try await machine.waitUntil { $0.contains(#""deny""#) } }
        }
    }

    @Test("an agent that is paused over night goes on when the session has room again")
    func night() async throws {
        try installAgent()
        let lines = try Self.lines("Pause over night")
        for line in lines.dropLast() { try await run(line) }
        try await here.push(96)
        let agent = try RunningProgram(home, "/bin/sh", Self.shell(lines.last ?? "", home))
        while try await !run("usage-view gate status").contains("paused") { try Task.checkCancellation() }
        try await here.push(2)
        #expect(await agent.output.first { _ in true } == "worked")
    }

    @Test("a rule for a directory leaves the rest to agents elsewhere")
    func directory() async throws {
        try installAgent()
        for line in try Self.lines("Keep 20 % for me") { try await run(line) }
        try await here.push(79)
        #expect(try await run("mkdir agents; cd agents; claude") == "worked\n")
        try await here.push(80)
        #expect(try await run("cd agents; claude").contains("80 % used"))
        #expect(try await run("claude") == "worked\n")
    }

    @Test("a queue of tickets is worked off, failed ones are listed, and above the limit none is started")
    func tickets() async throws {
        let script = try Self.lines("A queue of tickets").joined(separator: "\n")
        try home.script("claude", #"echo "$2" >>done.txt; [ "$2" != b ]"#)
        try home.file("tickets.txt", "a\nb\nc\n")
        try await here.push(50)
        try await run(script)
        #expect(try home.text("done.txt") == "a\nb\nc\n")
        #expect(try home.text("left.txt") == "b\n")
        try await here.push(90)
        let queue = try RunningProgram(home, "/bin/sh", Self.shell(script, home))
        #expect(await queue.errors.first { $0.contains("Waiting by --max 90 %, at most 7d") } != nil)
        #expect(try home.text("done.txt") == "a\nb\nc\n")
    }
}
