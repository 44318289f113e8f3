import Foundation
import Testing

@testable import UsagePusher

@Suite("Which plug-ins run", .timeLimit(.minutes(1)))
struct PluginFileTests {
    /// A plug-in that was enabled and is then changed; returns what `sources` says after a run.
    private func detail(after change: (PluginHome, String) throws -> Void) throws -> String {
        let home = try PluginHome()
        let path = try home.script("plugin", "touch '\(home.home.path("ran"))'")
        try home.enable("plugin")
        try change(home, path)
        home.run()
        #expect(!FileManager.default.fileExists(atPath: home.home.path("ran")))
        return home.detail("plugin").replacing(home.path("plugin"), with: "PLUGIN")
            .replacing(home.path("").dropLast(), with: "DIRECTORY")
    }

    @Test("one that others can write does not run")
    func writable() throws {
        #expect(try detail { chmod($1, 0o777) } == "not run: others may write to PLUGIN; run chmod go-w PLUGIN")
        #expect(
            try detail { home, _ in chmod(home.path(""), 0o775) }
                == "not run: others may write to DIRECTORY; run chmod go-w DIRECTORY")
    }

    @Test("one whose mode has changed runs when it is enabled again")
    func changed() throws {
        #expect(
            try detail { chmod($1, 0o700) }
                == "not run: its owner or mode has changed; run usage-push config enable-plugin plugin"
        )
        #expect(try detail { chmod($1, 0o644) } == "not run: it is not executable; run chmod u+x PLUGIN")
    }

    @Test("a link, a pipe, a directory and nothing do not run")
    func kinds() throws {
        func replaced(_ create: @escaping (PluginHome, String) throws -> Void) throws -> String {
            try detail { home, path in
                try FileManager.default.removeItem(atPath: path)
                try create(home, path)
            }
        }
        #expect(
            try replaced {
                try FileManager.default.createSymbolicLink(atPath: $1, withDestinationPath: "/bin/sh")
            }
                == "not run: it is a symbolic link; use a script that runs its target")
        #expect(try replaced { mkfifo($1, 0o755) } == "not run: PLUGIN is not a regular file")
        #expect(try replaced { mkdir($1, 0o755) } == "not run: PLUGIN is not a regular file")
        #expect(try replaced { _, _ in } == "not run: there is no PLUGIN")
    }

    @Test("one that is not enabled does not run")
    func disabled() throws {
        let home = try PluginHome()
        try home.script("plugin", "touch '\(home.home.path("ran"))'")
        home.run()
        #expect(!FileManager.default.fileExists(atPath: home.home.path("ran")))
        #expect(home.detail("plugin") == "not enabled; to run it: usage-push config enable-plugin plugin")
    }

    @Test("names have no slash, do not begin with a dot and do not end in .json")
    func names() {
        #expect(["codexbar", "my-tool_2.sh", "_"].allSatisfy(PluginFile.isName))
        let others = [
            "", ".hidden", "a/b", "..", "a.json", "-x", "ä", String(repeating: "a", count: 65),
        ]
        #expect(!others.contains(where: PluginFile.isName))
    }
}
