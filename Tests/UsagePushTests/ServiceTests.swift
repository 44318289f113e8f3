import Foundation
import StoreTestSupport
import TestSupport
import Testing

/// The built command with tools of the system that only record how they are called.
@Suite("usage-push service", .temporaryHome, .timeLimit(.minutes(5)))
struct ServiceTests {
    private static let unit = ".config/systemd/user/usage-push.service"

    /// - Parameter systemctl: a shell script that runs after the call was recorded; nil for none.
    private func home(systemctl: String?) throws -> TemporaryHome {
        var home = TemporaryHome.ofTest
        try home.directory("bin")
        // A search path with the few programs that the scripts need, and no systemctl.
        home.variables["PATH"] = home.path + "/bin"
        if let systemctl { try record(home, "systemctl", systemctl) }
        return home
    }

    /// A program that records how it is called.
    private func record(_ home: TemporaryHome, _ name: String, _ text: String) throws {
        try home.script(name, "echo \"\(name) $*\" >>\"$HOME/calls\"\n" + text)
    }

    /// The calls since the last time.
    private func calls(_ home: TemporaryHome) -> [String] {
        defer { try? FileManager.default.removeItem(atPath: home.path + "/calls") }
        return ((try? home.text("calls")) ?? "").split(separator: "\n").map(String.init)
    }

    @Test("install writes the unit, enables and starts it, and remove undoes that")
    func installing() async throws {
        var home = try home(systemctl: "")
        try record(home, "loginctl", "echo no")
        home.variables["CODEX_HOME"] = home.path + "/my codex"
        home.variables["OPENAI_API_KEY"] = "sk-secret"
        let printed = try await home.run("usage-push", ["service", "install", "--print"])
        #expect(printed.status == 0 && !home.exists(Self.unit))
        let outcome = try await home.run("usage-push", ["service", "install"])
        #expect(outcome.status == 0 && outcome.errors == "")
        #expect(outcome.text.contains("loginctl enable-linger"))
        let unit = try home.text(Self.unit)
        #expect(unit == printed.text)
        #expect(unit.contains("Environment=\"CODEX_HOME=\(home.path)/my codex\"\n"))
        #expect(unit.contains(/ExecStart=\/.+\/usage-push --watch --quiet\n/))
        #expect(!unit.contains("secret"))
        #expect(
            calls(home).prefix(2) == [
                "systemctl --user daemon-reload",
                "systemctl --user enable --now usage-push.service",
            ])

        home.variables["CODEX_HOME"] = nil
        #expect(try await home.run("usage-push", ["service", "install"]).status == 0)
        #expect(calls(home).contains("systemctl --user restart usage-push.service"))

        let removal = try await home.run("usage-push", ["service", "remove"])
        #expect(removal.text == "removed ~/\(Self.unit)\n" && removal.status == 0)
        #expect(
            calls(home) == [
                "systemctl --user disable --now usage-push.service",
                "systemctl --user daemon-reload",
            ])
        #expect(!home.exists(Self.unit))
        let again = try await home.run("usage-push", ["service", "remove"])
        #expect(again.text == "the service is not installed\n" && again.status == 0)
    }

    @Test("the unit passes every variable that a source, or this product, reads to find files")
    func variables() async throws {
        let sources = Repository.root.appending(path: "Sources/UsagePusher/Sources")
        let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter { $0.hasSuffix(".swift") }
            .map { sources.appending(path: $0) }
        let product = ["UsagePusher/UsageSource.swift", "Machine/LocalFiles/UserDirectories.swift"].map {
            Repository.root.appending(path: "Sources/" + $0)
        }
        let names = try Set(
            (files + product).flatMap { file in
                try String(contentsOf: file, encoding: .utf8).matches(of: /"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)"/)
                    .map { String($0.1) }
            }
            // A member of a file, and what is set for a program that is started.
        ).subtracting(["OPENAI_API_KEY", "NODE_OPTIONS"])
        #expect(names.count > 20)
        var home = try home(systemctl: nil)
        for name in names { home.variables[name] = home.path + "/" + name }
        let unit = try await home.run("usage-push", ["service", "install", "--print"]).text
        for name in names {
            #expect(unit.contains("Environment=\(name)=\(home.path)/\(name)\n"), "\(name) is in no 'variables'")
        }
    }

    @Test("the packaged unit is the one that the command prints")
    func packaged() async throws {
        let packaged = try Repository.text("packaging/systemd/usage-push.service")
        let home = try home(systemctl: nil)
        let printed = try await home.run("usage-push", ["service", "install", "--print"])
        let unit = printed.text.replacing(/ExecStart=\S+\/usage-push/, with: "ExecStart=/usr/bin/usage-push")
        #expect(packaged == unit, "regenerate it with: usage-push service install --print")
    }

    @Test(
        "without systemd the unit is written, and the next step named",
        arguments: [nil, "echo 'Failed to connect to bus' >&2; exit 1"])
    func unavailable(systemctl: String?) async throws {
        let home = try home(systemctl: systemctl)
        let outcome = try await home.run("usage-push", ["service", "install"])
        #expect(outcome.status == 69)
        #expect(outcome.errors.contains("usage-push --watch"))
        #expect(outcome.errors.contains(systemctl == nil ? "systemctl is not on this machine" : "connect to bus"))
        #expect(try home.text(Self.unit) != "")
        let status = try await home.run("usage-push", ["service", "status"])
        #expect(status.status == 1 && status.text.contains("unknown: "))
    }

    @Test("a service that does not start is an error with the reason of systemd")
    func failing() async throws {
        let script = "if [ \"$2\" = enable ]; then echo 'Unit is masked.' >&2; exit 1; fi"
        let home = try home(systemctl: script)
        let outcome = try await home.run("usage-push", ["service", "install"])
        #expect(outcome.status == 74 && outcome.errors.contains("Unit is masked."))
    }

    @Test("a unit that somebody else wrote is neither replaced nor removed")
    func foreign() async throws {
        let home = try home(systemctl: "")
        try home.file(Self.unit, "[Service]\n")
        for command in ["install", "remove"] {
            let outcome = try await home.run("usage-push", ["service", command])
            #expect(outcome.status == 73)
            #expect(outcome.errors.contains("was not written by usage-push"))
        }
        #expect(try home.text(Self.unit) == "[Service]\n" && calls(home) == [])
    }

    @Test("status shows state, last push and errors")
    func status() async throws {
        let show = """
            printf 'ActiveState=activating\\nSubState=auto-restart\\nUnitFileState=enabled\\n'
            printf 'Result=exit-code\\nNRestarts=3\\n'
            """
        let home = try home(systemctl: show)
        try record(home, "journalctl", "echo 'usage-push: the disk is full'")
        let before = try await home.run("usage-push", ["service", "status"])
        #expect(before.status == 1 && before.text.contains("not installed"))
        _ = try await home.run("usage-push", ["service", "install"])
        let now = Date()
        let row = """
            {"timestamp":"\(now.formatted(.iso8601))","type":"event_msg","payload":{\
            "type":"token_count","rate_limits":{"primary":{"used_percent":57,\
            "window_minutes":300,"resets_at":\(Int(now.timeIntervalSince1970) + 7_200)}}}}

            """
        let session = ".codex/sessions/2030/01/01/rollout-2030-01-01T00-00-00-\(UUID()).jsonl"
        try home.file(session, row)
        #expect(try await home.run("usage-push", ["--quiet"]).status == 0)
        let outcome = try await home.run("usage-push", ["service", "status"])
        #expect(outcome.status == 1)
        #expect(outcome.text.contains("activating (auto-restart), exit-code, 3 restarts"))
        #expect(outcome.text.contains(/last push +(just now|.+ ago): codex 57 %/))
        #expect(outcome.text.contains("log        usage-push: the disk is full"))
        let json = try await home.run("usage-push", ["service", "status", "--json"])
        #expect(json.text.contains("\"isEnabled\" : true") && json.text.contains("\"lastPush\""))
        let other = try await home.run("usage-push", ["service", "status", "--store", "other"])
        #expect(other.text.contains("last push  none"))
    }

    @Test("systemd accepts the unit", .enabled(if: Self.analyzer != nil))
    func verification() async throws {
        let home = try home(systemctl: "")
        _ = try await home.run("usage-push", ["service", "install"])
        let process = Process()
        process.executableURL = Self.analyzer
        process.arguments = ["--user", "verify", home.path + "/" + Self.unit]
        process.environment = ["HOME": home.path, "XDG_RUNTIME_DIR": home.path]
        let errors = Pipe()
        process.standardError = errors
        try process.run()
        let data = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        // Older systems do not know how to grow the pause between restarts, and ignore it.
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
            .filter { !$0.contains("RestartSteps") && !$0.contains("RestartMaxDelaySec") }
        #expect(process.terminationStatus == 0 && lines == [], "\(lines)")
    }

    private static var analyzer: URL? {
        ["/usr/bin/systemd-analyze", "/bin/systemd-analyze"].first {
            FileManager.default.isExecutableFile(atPath: $0)
        }.map { URL(filePath: $0) }
    }
}
