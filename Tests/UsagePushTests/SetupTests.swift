import Foundation
import TestSupport
import Testing

/// The built command in homes of its own.
@Suite("usage-push setup", .temporaryHome, .timeLimit(.minutes(5)))
struct SetupTests {
    private static let settings = """
        {
        \t"model": "opus",
        \t"statusLine": {"type": "command", "command": "~/.claude/line.sh 'a  b' \\"$HOME\\""}
        }
        """

    private let home = TemporaryHome.ofTest

    init() throws { try home.directory(".claude/projects") }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    /// The command that a session would run.
    private func command() throws -> String {
        let data = try Data(contentsOf: URL(filePath: home.path + "/.claude/settings.json"))
        let document = try #require(try JSONSerialization.jsonObject(with: data) as? [String: [String: Any]])
        return try #require(document["statusLine"]?["command"] as? String)
    }

    @Test("the status line prints the same with the capture, which saves its limits")
    func capture() async throws {
        let script = "#!/bin/sh\nwc -c; printf '<%s>' \"$@\"; printf '\\033[1m\\n'; exit 3\n"
        let line = try home.file(".claude/line.sh", script)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: line)
        let quoted = #"~/.claude/line.sh 'a  b' \"$HOME\" it\\'s \\\\ \u0027ü\u0027 | cat"#
        try home.file(".claude/settings.json", #"{"statusLine":{"command":"\#(quoted)"}}"#)
        let input = Data(#"{"session_id":"s","rate_limits":{"five_hour":{"used_percentage":42}}}"#.utf8)
        let former = try await home.shell(try command(), input: input)
        #expect(former.text.contains("<a  b><\(home.path)><it's><\\><ü>"))

        #expect(try await home.run("usage-push", ["setup", "--yes"]).status == 0)
        let outcome = try await home.shell(try command(), input: input)
        #expect(outcome.output == former.output && outcome.errors == "")
        #expect(outcome.status == 0)
        let captures = try FileManager.default.contentsOfDirectory(
            atPath: home.path + "/.local/state/ubiquity/claude-statusline")
        #expect(captures.count == 1)
    }

    @Test("a project whose settings replace the status line is named")
    func projectSettings() async throws {
        try home.file("work/.claude/settings.local.json", Self.settings)
        #expect(try await home.run("usage-push", ["setup", "--yes"]).status == 0)
        let program = try command().split(separator: " ")[0]
        let outcome = try await home.shell("cd '\(home.path)/work' && \(program) setup")
        #expect(outcome.text.contains("Nothing left to set up."))
        #expect(
            outcome.text.contains(
                "The project settings in ~/work/.claude/settings.local.json set the status line,"
                    + " so the capture will not run in this directory."))
        let json = try await home.shell("cd '\(home.path)/work' && \(program) setup --json")
        #expect(json.text.contains("\"statuslineOverride\""))
        #expect(try home.text("work/.claude/settings.local.json") == Self.settings)
    }

    @Test("what setup changes, --undo restores byte by byte")
    func undo() async throws {
        let file = try home.file(".claude/settings.json", Self.settings)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file)
        let outcome = try await home.run("usage-push", ["setup", "--yes"])
        #expect(outcome.status == 0 && outcome.errors == "")
        #expect(
            outcome.text.contains("line 3:")
                && outcome.text.contains("the former file is ~/.claude/settings.json.before"))
        #expect(try mode(file) == 0o640)
        let backup = ".claude/settings.json.before-usage-push"
        #expect(try home.text(backup) == Self.settings)
        #expect(try mode(home.path + "/" + backup) == 0o600)
        let edited = try home.text(".claude/settings.json")
        let again = try await home.run("usage-push", ["setup", "--yes"])
        #expect(again.text.contains("Nothing left to set up."))
        #expect(try home.text(".claude/settings.json") == edited)

        #expect(try await home.run("usage-push", ["setup", "--undo", "--yes"]).status == 0)
        #expect(try home.text(".claude/settings.json") == Self.settings)
        #expect(try mode(file) == 0o640)
        #expect(!home.exists(backup))
        let nothing = try await home.run("usage-push", ["setup", "--undo", "--yes"])
        #expect(nothing.text.contains("Nothing to undo."))
    }

    @Test("a file that setup has created is removed again; one that was empty stays")
    func created() async throws {
        for former in [nil, "{}\n", "{}"] {
            if let former { try home.file(".claude/settings.json", former) }
            #expect(try await home.run("usage-push", ["setup", "--yes"]).status == 0)
            #expect(try command().hasSuffix("usage-push claude-statusline"))
            #expect(try await home.run("usage-push", ["setup", "--undo", "--yes"]).status == 0)
            #expect(
                try former
                    == (home.exists(".claude/settings.json")
                        ? home.text(".claude/settings.json") : nil))
        }
    }

    @Test("a linked settings.json is edited where it is, and stays a link")
    func link() async throws {
        try home.file("dotfiles/claude.json", Self.settings)
        let link = home.path + "/.claude/settings.json"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "../dotfiles/claude.json")
        #expect(try await home.run("usage-push", ["setup", "--yes"]).status == 0)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "../dotfiles/claude.json")
        #expect(try home.text("dotfiles/claude.json").contains("claude-statusline"))
        #expect(try await home.run("usage-push", ["setup", "--undo", "--yes"]).status == 0)
        #expect(try home.text("dotfiles/claude.json") == Self.settings)

        try FileManager.default.removeItem(atPath: home.path + "/dotfiles/claude.json")
        let dangling = try await home.run("usage-push", ["setup", "--yes"])
        #expect(dangling.status == 74 && dangling.errors.contains("follow the link"))
    }

    @Test("without a terminal and --yes nothing is changed", arguments: [[], ["--json"], ["--undo"]])
    func showing(options: [String]) async throws {
        try home.directory(".claude-work/projects")
        try home.file(".claude/settings.json", Self.settings)
        if options == ["--undo"] { #expect(try await home.run("usage-push", ["setup", "--yes"]).status == 0) }
        let former = try home.text(".claude/settings.json")
        let outcome = try await home.run("usage-push", ["setup"] + options, input: Data("y\ny\n".utf8))
        #expect(outcome.status == 0 && outcome.errors == "")
        #expect(outcome.text.contains("claude-statusline"))
        #expect(try home.text(".claude/settings.json") == former)
        #expect(home.exists(".config/ubiquity/usage-push.json") == (options == ["--undo"]))
    }

    @Test("--json says what is left, and what was done")
    func json() async throws {
        struct Report: Decodable {
            struct Change: Decodable {
                var path: String
                var isApplied: Bool
                var line: Int
            }
            var isComplete: Bool
            var changes: [Change]
        }
        try home.file(".claude/settings.json", Self.settings)
        for (options, isApplied) in [(["--json"], false), (["--json", "--yes"], true)] {
            let outcome = try await home.run("usage-push", ["setup"] + options)
            let report = try JSONDecoder().decode(Report.self, from: outcome.output)
            #expect(report.isComplete == isApplied)
            #expect(report.changes.map(\.path) == [home.path + "/.claude/settings.json"])
            #expect(report.changes.map(\.line) == [3])
            #expect(report.changes.map(\.isApplied) == [isApplied])
        }
        let outcome = try await home.run("usage-push", ["setup", "--json"])
        let report = try JSONDecoder().decode(Report.self, from: outcome.output)
        #expect(report.isComplete && report.changes.isEmpty)
    }

    @Test("a file that is not valid is named with the position, and left alone")
    func invalid() async throws {
        let text = "{\n  // note\n  \"model\": \"opus\"\n}\n"
        let file = try home.file(".claude/settings.json", text)
        for options in [["setup", "--yes"], ["setup", "--undo", "--yes"]] {
            let outcome = try await home.run("usage-push", options)
            #expect(outcome.status == 65)
            #expect(
                outcome.errors
                    == "usage-push: cannot change \(file): line 2, column 3: comments are not valid in"
                    + " JSON; fix it and run this again; nothing was changed\n")
        }
        #expect(try home.text(".claude/settings.json") == text)
        #expect(!home.exists(".claude/settings.json.before-usage-push"))
    }

    @Test("on a terminal each change is asked for")
    func asking() async throws {
        try home.file(".claude/settings.json", Self.settings)
        try home.directory(".claude-work/projects")
        try home.directory(".claude-other/projects")
        let terminal = try PseudoTerminal()
        defer { terminal.closeBoth() }
        let setup = try RunningProgram(home, "usage-push", ["setup"], terminal: terminal)
        await terminal.wait(toSee: "~/.claude-other. Read it? [y/N]")
        terminal.type("n\n")
        await terminal.wait(toSee: "~/.claude-work. Read it? [y/N]")
        terminal.type("y\n")
        await terminal.wait(toSee: "Change ~/.claude/settings.json? [y/N]")
        terminal.type("\n")
        await terminal.wait(toSee: "Create ~/.claude-work/settings.json? [y/N]")
        terminal.type("yes\n")
        await terminal.wait(toSee: "To undo this: usage-push setup --undo")
        #expect(await setup.status() == 0)
        #expect(try home.text(".claude/settings.json") == Self.settings)
        #expect(home.exists(".claude-work/settings.json"))
        #expect(!home.exists(".claude-other/settings.json"))
        let shown = try await home.run("usage-push", ["config", "show"])
        #expect(shown.text == "claude  \(home.path)/.claude-work\n")
    }

    @Test("a file that changes while the question is open is left alone")
    func changedMeanwhile() async throws {
        try home.file(".claude/settings.json", Self.settings)
        let terminal = try PseudoTerminal()
        defer { terminal.closeBoth() }
        let setup = try RunningProgram(home, "usage-push", ["setup"], terminal: terminal)
        await terminal.wait(toSee: "Change ~/.claude/settings.json? [y/N]")
        try home.file(".claude/settings.json", "{}")
        terminal.type("y\n")
        await terminal.wait(toSee: "it has changed in the meantime; run this again")
        #expect(await setup.status() == 74)
        #expect(try home.text(".claude/settings.json") == "{}")
    }

    @Test("the command is named by its name when the search path leads to it, else by its path")
    func program() async throws {
        var home = home
        let program = try #require(TemporaryHome.program("usage-push")).path
        #expect(try await home.run("usage-push", ["setup", "--yes"]).status == 0)
        let path = try command().split(separator: " ").first.map(String.init) ?? ""
        #expect(path.hasPrefix("/") && path.hasSuffix("/usage-push"))
        let bin = try home.directory("bin")
        try FileManager.default.createSymbolicLink(atPath: bin + "/usage-push", withDestinationPath: program)
        home.variables["PATH"] = "/usr/bin:/bin:\(bin)"
        #expect(try await home.run("usage-push", ["setup", "--yes"]).status == 0)
        #expect(try command() == "usage-push claude-statusline")
    }

    @Test("homes are added, shown and removed; unknown ones are refused")
    func config() async throws {
        let work = try home.directory(".claude-work/projects/..")
        let path = home.path + "/.claude-work"
        let add = ["config", "add-home", "claude", work]
        #expect(try await home.run("usage-push", add).text == "added \(path)\n")
        #expect(try await home.run("usage-push", add).text == "already configured: \(path)\n")
        let json = try await home.run("usage-push", ["config", "show", "--json"])
        #expect(json.text.contains("\"\(path)\""))
        let remove = ["config", "remove-home", "claude", path]
        #expect(try await home.run("usage-push", remove).text == "removed \(path)\n")
        #expect(try await home.run("usage-push", remove).status == 66)
        #expect(try await home.run("usage-push", ["config", "add-home", "x", path]).status == 64)
        #expect(try await home.run("usage-push", ["config", "add-home", "codex", path + "/no"]).status == 66)
    }

    @Test("a damaged configuration is reported and does not stop a push")
    func damagedConfiguration() async throws {
        try home.file(".config/ubiquity/usage-push.json", "{homes}")
        let outcome = try await home.run("usage-push", ["sources"])
        #expect(outcome.status == 0)
        #expect(outcome.errors.contains("usage-push.json: line 1, column 2:"))
        #expect(try await home.run("usage-push", ["config", "show"]).status == 78)
    }
}
