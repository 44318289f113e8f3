import Commands
import Foundation
import Testing

@testable import UsagePusher

@Suite("Plan of the setup")
struct SetupPlanTests {
    private let sample: SampleHome
    private var home: String { sample.path }

    init() throws { sample = try SampleHome() }

    private func paths(_ homes: [ToolHome]) -> [String] {
        homes.map { $0.providerID + " " + $0.path.dropFirst(home.count + 1) }
    }

    @Test("homes are found by name only when they contain what the tool creates")
    func named() throws {
        for path in [
            ".claude/projects", ".claude-work/projects", ".claude-mem", ".codex/sessions",
            ".codex-team/sessions", ".codexbar/sessions", "work",
        ] { try sample.createDirectory(path) }
        try sample.write(".claude-mem/settings.json", "{}")
        try sample.write(".claude-file", "{}")
        let homes = ToolHomes(SourceEnvironment(home: home))
        #expect(paths(homes.known) == ["claude .claude", "codex .codex"])
        #expect(paths(homes.unread) == ["claude .claude-work", "codex .codex-team"])
    }

    @Test("a home counts once, whatever leads to it")
    func links() throws {
        try sample.createDirectory(".claude/projects")
        try sample.createDirectory("work/sessions")
        try sample.link(".claude-link", to: home + "/.claude")
        try sample.link(".codex-work", to: home + "/work")
        var environment = SourceEnvironment(home: home, variables: ["CLAUDE_CONFIG_DIR": home + "/.claude"])
        #expect(paths(ToolHomes(environment).unread) == ["codex .codex-work"])
        environment.additionalHomes = ["codex": [home + "/work", home + "/gone"]]
        #expect(paths(ToolHomes(environment).known) == ["claude .claude", "codex work"])
        #expect(ToolHomes(environment).unread.isEmpty)
    }

    @Test("CLAUDE_CONFIG_DIR replaces the usual home, which is then offered")
    func variable() throws {
        try sample.createDirectory(".claude/projects")
        try sample.createDirectory("elsewhere/projects")
        let environment = SourceEnvironment(home: home, variables: ["CLAUDE_CONFIG_DIR": home + "/elsewhere"])
        let plan = SetupPlan.setUp(environment, program: "usage-push", directory: home, managedPath: home + "/none")
        #expect(plan.changes.map(\.file.path) == [home + "/elsewhere/settings.json"])
        #expect(paths(plan.homes.unread) == ["claude .claude"])
    }

    @Test("the settings that replace the user's status line are found in their order")
    func overrides() throws {
        try sample.createDirectory(".claude/projects")
        let line = { (command: String) in "{\"statusLine\":{\"command\":\"\(command)\"}}" }
        func found(in directory: String = "work") -> StatuslineOverride? {
            SetupPlan.setUp(
                sample.environment(), program: "usage-push", directory: sample.path(directory),
                managedPath: sample.path("managed.json")
            ).statuslineOverride
        }
        let project = sample.path("work/.claude/settings.json")
        let local = sample.path("work/.claude/settings.local.json")
        for harmless in ["{\"model\":\"opus\"}", "{\"statusLine\":null}", "not JSON", ""] {
            try sample.write("work/.claude/settings.json", harmless)
            #expect(found() == nil)
        }
        try sample.write("work/.claude/settings.json", line("own"))
        #expect(found() == StatuslineOverride(path: project, isManaged: false))
        try sample.write("work/.claude/settings.local.json", line("usage-push claude-statusline"))
        #expect(found() == nil)
        try sample.write("work/.claude/settings.local.json", line("mine"))
        #expect(found() == StatuslineOverride(path: local, isManaged: false))
        #expect(found(in: "elsewhere") == nil)
        try sample.write(".claude/settings.json", line("the user's"))
        #expect(found(in: "") == nil)

        #expect(mkfifo(sample.path("managed.json"), 0o600) == 0)
        #expect(found() == StatuslineOverride(path: local, isManaged: false))
        try sample.remove("managed.json")
        try sample.write("managed.json", line("corporate"))
        #expect(found(in: "") == StatuslineOverride(path: sample.path("managed.json"), isManaged: true))
        let padding = String(repeating: " ", count: 1_100_000)
        try sample.write("managed.json", padding + line("corporate"))
        #expect(found(in: "") == nil)
    }

    @Test("a program is named by its name only if the search path leads to it")
    func location() throws {
        for name in ["a", "b", "c"] { try sample.createDirectory(name) }
        try sample.write("a/usage-push", "1")
        try sample.write("b/usage-push", "2")
        try sample.link("c/usage-push", to: home + "/a/usage-push")
        func location(_ searchPath: String) -> ProgramLocation {
            ProgramLocation(executable: home + "/a/usage-push", name: "usage-push", searchPath: searchPath)
        }
        #expect(location("/bin:\(home)/c:\(home)/b").command == "usage-push")
        #expect(location("/bin:\(home)/c:\(home)/b").path == home + "/c/usage-push")
        for searchPath in ["", "/bin", "\(home)/b:\(home)/a"] {
            #expect(location(searchPath).command == home + "/a/usage-push")
        }
    }

    @Test("a difference shows the lines that change, of a long line only the part")
    func difference() {
        func difference(_ old: String?, _ new: String?) -> TextDifference? {
            TextDifference(from: old.map { Data($0.utf8) }, to: new.map { Data($0.utf8) })
        }
        #expect(difference("a\nb\n", "a\nb\n") == nil)
        let inserted = difference("a\nc\n", "a\nb\nc\n")
        #expect(inserted?.line == 2 && inserted?.removed == [] && inserted?.added == ["b"])
        let created = difference(nil, "a\nb\n")
        #expect(created?.line == 1 && created?.removed == [] && created?.added == ["a", "b"])
        let changed = difference("a\r\nb\r\n", "a\r\nx\r\n")
        #expect(changed?.removed == ["b"] && changed?.added == ["x"])
        let secret = String(repeating: "secret", count: 100)
        let long = difference("{\(secret)}", "{\(secret),new}")
        #expect(long?.removed == ["……"] && long?.added == ["…,new…"])
    }
}
