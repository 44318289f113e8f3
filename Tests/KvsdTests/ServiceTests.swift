import Foundation
import StoreTestSupport
import TestSupport
import Testing

/// The built command. Nothing here writes outside of a temporary home.
@Suite("kvsd service", .timeLimit(.minutes(5)))
struct ServiceTests {
    private func withHome(_ body: (TemporaryHome) async throws -> Void) async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        try await body(home)
    }

    /// What the command prints, as it would with the program in `/usr/bin`.
    private func systemUnit(_ home: TemporaryHome, _ arguments: [String] = []) async throws -> String {
        let outcome = try await home.run("kvsd", ["service", "install", "--system", "--print"] + arguments)
        #expect(outcome.status == 0, "\(outcome.errors)")
        return outcome.text.replacing(/ExecStart=\S+\/kvsd/, with: "ExecStart=/usr/bin/kvsd")
    }

    @Test("install writes a user unit that serves, and remove undoes that")
    func installing() async throws {
        try await withHome { home in
            var home = home
            let tool = try home.file("bin/systemctl", "#!/bin/sh\necho \"$*\" >>\"$HOME/calls\"\n")
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: tool)
            home.variables["PATH"] = home.path + "/bin"
            let installed = try await home.run(
                "kvsd", ["service", "install", "--data", "/srv/d", "--", "--listen", "0.0.0.0"])
            #expect(installed.status == 0, "\(installed.errors)")
            let file = home.path + "/.config/systemd/user/kvsd.service"
            let unit = try String(contentsOfFile: file, encoding: .utf8)
            #expect(unit.contains(/ExecStart=\/.+\/kvsd serve --data \/srv\/d --listen 0\.0\.0\.0\n/))
            #expect(unit.contains("ExecReload=/bin/kill -HUP $MAINPID\n"))
            let calls = try String(contentsOfFile: home.path + "/calls", encoding: .utf8)
            #expect(calls == "--user daemon-reload\n--user enable --now kvsd.service\n")
            let removed = try await home.run("kvsd", ["service", "remove"])
            #expect(removed.text == "removed ~/.config/systemd/user/kvsd.service\n")
            #expect(!FileManager.default.fileExists(atPath: file))
        }
    }

    @Test("options that serve refuses are not written into a unit")
    func wrongOptions() async throws {
        try await withHome { home in
            let outcome = try await home.run("kvsd", ["service", "install", "--print", "--", "--connections", "0"])
            #expect(outcome.status == 64 && outcome.text == "")
        }
    }

    @Test("the packaged unit is the one that the command prints")
    func packaged() async throws {
        let packaged = try Repository.text("packaging/systemd/kvsd.service")
        try await withHome { home in
            let printed = try await systemUnit(home)
            #expect(packaged == printed, "regenerate it with: kvsd service install --system --print")
        }
    }

    @Test(
        "the exposure of the system unit is at most 2.0",
        .enabled(if: Self.analyzer != nil, "systemd-analyze is not on this machine"))
    func exposure() async throws {
        try await withHome { home in
            let file = try home.file("kvsd.service", try await systemUnit(home))
            let outcome = try await home.run(
                try #require(Self.analyzer), ["security", "--offline=true", "--threshold=20", "--no-pager", file])
            #expect(outcome.status == 0, "\(outcome.text)\(outcome.errors)")
            // Without it nothing was analyzed.
            #expect(outcome.text.contains("Overall exposure level"))
        }
    }

    private static let analyzer = ["/usr/bin/systemd-analyze", "/bin/systemd-analyze"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    @Test("SIGHUP does not end the daemon, and makes it look at its devices")
    func reloading() async throws {
        try await withHome { home in
            let daemon = try RunningProgram(
                home, "kvsd", ["serve", "--data", home.path + "/data", "--listen", "127.0.0.1:0"])
            var isReloaded = false
            for await line in daemon.errors {
                if line.contains("listening on") { daemon.send(SIGHUP) }
                if line.contains("reading the certificate and devices again") {
                    isReloaded = true
                    daemon.send(SIGTERM)
                }
            }
            #expect(isReloaded)
            #expect(await daemon.status() == 0)
        }
    }
}
