import Foundation
import TestSupport
import Testing

@testable import clip

@Suite("clip import")
struct ImportCommandTests {
    private let home: ImportHome

    init() throws { home = try ImportHome() }

    @Test(
        "without a path the usual one is read, and what is there is not changed",
        arguments: [
            (ImportTool.clipse, ".config/clipse/clipboard_history.json", "clipse/clipboard_history.json"),
            (.cliphist, ".cache/cliphist/db", "cliphist/db"),
            (.copyq, ".config/copyq/copyq_tab_JmNsaXBib2FyZA==.dat", "copyq/copyq_tab_JmNsaXBib2FyZA==.dat"),
            (
                .maccy,
                "Library/Containers/org.p0deje.Maccy/Data/Library/Application Support/Maccy/Storage.sqlite",
                "maccy/Storage.sqlite"
            ),
            (.maccy, "Library/Application Support/Maccy/Storage.sqlite", "maccy/Storage.sqlite"),
        ])
    func usualPath(tool: ImportTool, path: String, fixture: String) async throws {
        let directory = try home.home.directory((path as NSString).deletingLastPathComponent)
        let file = home.home.path + "/" + path
        let original = ImportHome.fixtures + "/" + fixture
        try FileManager.default.copyItem(atPath: original, toPath: file)
        #expect(try await home.importing(tool.rawValue).added > 3)
        #expect(FileManager.default.contents(atPath: file) == FileManager.default.contents(atPath: original))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory).count == 1)
    }

    @Test("a missing history names the paths that were looked at", arguments: ImportTool.allCases)
    func missing(tool: ImportTool) async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        let outcome = try await home.run("clip", ["import", tool.rawValue])
        #expect(outcome.status == 66)
        for path in tool.usualPaths(["HOME": home.path]) { #expect(outcome.errors.contains(path)) }
        #expect(outcome.errors.contains("pass its path"))
    }

    @Test("a file of another kind is an error that says what to pass", arguments: ImportTool.allCases)
    func otherFile(tool: ImportTool) async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        let file = try home.file("notes\u{1B}[2J.txt", "some notes, and no history of anything")
        let outcome = try await home.run("clip", ["import", tool.rawValue, file])
        #expect(outcome.status == 65)
        #expect(outcome.errors.contains("pass"))
        #expect(outcome.errors.contains(#"notes\u{1B}[2J.txt"#))
        #expect(!outcome.errors.contains("\u{1B}") && !outcome.errors.contains("some notes"))
        let directory = try await home.run("clip", ["import", tool.rawValue, home.path])
        #expect(directory.status != 0 && directory.errors.contains("not a regular file"))
    }

    @Test("the result says in words what was read, added and skipped")
    func text() async throws {
        let path = ImportHome.fixtures + "/clipse/clipboard_history.json"
        let skipped = """
            Skipped 1: its image file is missing or cannot be read.
            Skipped 1: looks like an AWS access key.
            Skipped 1: only white space.

            """
        let dryRun = try await home.home.run("clip", ["import", "clipse", path, "--dry-run"])
        #expect(dryRun.text == "Read 8 items of clipse.\nTo add: 5, already there: 0.\n" + skipped)
        #expect(try home.items().isEmpty)
        let first = try await home.home.run("clip", ["import", "clipse", path])
        #expect(first.text == "Read 8 items of clipse.\nAdded: 5, already there: 0.\n" + skipped)
        let second = try await home.home.run("clip", ["import", "clipse", path])
        #expect(second.text == "Read 8 items of clipse.\nAdded: 0, already there: 5.\n" + skipped)
    }

    @Test("on a terminal, a long import shows how far it is, and erases that at its end")
    func progress() async throws {
        var variables = home.home
        variables.variables["TERM"] = "xterm"
        let terminal = try PseudoTerminal()
        defer { terminal.closeBoth() }
        let path = ImportHome.fixtures + "/cliphist/db-many"
        let start = ContinuousClock.now
        let program = try RunningProgram(variables, "clip", ["import", "cliphist", path], terminal: terminal)
        let output = await terminal.wait(toSee: "holds: 2800.")
        let duration = ContinuousClock.now - start
        #expect(await program.status() == 0)
        // A fast machine is done before there is anything to show.
        if duration > .seconds(2) { #expect(output.contains("\rimporting: ")) }
        let lines = output.split(separator: "\u{1B}[K", omittingEmptySubsequences: false)
        #expect(lines.dropLast().allSatisfy { $0.hasPrefix("\rimporting: ") || $0 == "\r" })
        #expect(lines.count != 2 && lines.last?.hasPrefix("Read 3000 items") == true)
    }
}
