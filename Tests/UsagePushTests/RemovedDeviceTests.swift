import Foundation
import TestSupport
import Testing

/// Real programs of a machine that is removed from its account.
@Suite("A machine that has been removed says so", .temporaryHome, .timeLimit(.minutes(5)))
struct RemovedDeviceTests {
    /// A machine with limits that has joined an account.
    private func withMachine(
        _ body: (_ machine: TemporaryHome, _ daemon: PairedDaemon) async throws -> Void
    ) async throws {
        let (server, machine) = (try TemporaryHome(), TemporaryHome.ofTest)
        defer { server.remove() }
        let now = Date()
        let reset = Int(now.addingTimeInterval(7_200).timeIntervalSince1970)
        try machine.file(
            ".codex/sessions/2026/09/18/rollout-a.jsonl",
            #"{"timestamp":"\#(now.formatted(.iso8601))","type":"event_msg","payload":{"#
                + #""type":"token_count","rate_limits":{"primary":{"used_percent":36,"#
                + #""window_minutes":300,"resets_at":\#(reset)}}}}"# + "\n")
        let daemon = try await PairedDaemon(server)
        let joined = try await machine.kvs("join", "--name", "desk", daemon.pair())
        try #require(joined.status == 0, "\(joined.errors)")
        try await body(machine, daemon)
        await daemon.stop()
    }

    private func remove(_ daemon: PairedDaemon) async throws {
        let removed = try await daemon.home.run("kvsd", ["device", "remove", "desk"])
        try #require(removed.status == 0, "\(removed.errors)")
    }

    @Test("programs that run say it at once, with the next step, and alerts do")
    func running() async throws {
        try await withMachine { machine, daemon in
            let warning = try machine.file("warn", "#!/bin/sh\ncat >> \"$HOME/alerts\"\n")
            chmod(warning, 0o700)
            let enabled = try await machine.run("usage-push", ["alerts", "enable", "command", warning])
            try #require(enabled.status == 0, "\(enabled.errors)")
            let pusher = try RunningProgram(machine, "usage-push", ["--watch", "--verbose"])
            var awaited: Set = ["connected", "alerts go to command"]
            for await line in pusher.errors {
                awaited = awaited.filter { !line.hasSuffix($0) }
                if awaited.isEmpty { break }
            }
            let viewer = try RunningProgram(machine, "usage-view", ["--watch", "--plain"])
            _ = await viewer.output.first { $0.contains("36 % used") }
            let status = try RunningProgram(machine, "usage-view", ["status", "--follow"])
            _ = await status.output.first { $0.contains("36 % used") }
            try await remove(daemon)
            let said = await pusher.errors.first { $0.contains("removed from the account") }
            #expect(said?.contains("Next: ubq join LINE") == true)
            let shown = await viewer.output.first { $0.contains("Removed from the account") }
            #expect(shown?.contains("ubq join LINE") == true)
            let line = await status.output.first { $0.contains("removed") }
            #expect(line?.hasPrefix("removed: ubq join | Codex") == true)
            var alert: String?
            while alert?.contains(#""kind":"removed""#) != true {
                alert = try? String(contentsOfFile: machine.path + "/alerts", encoding: .utf8)
                try Task.checkCancellation()
            }
            #expect(alert?.contains("ubq join LINE") == true)
        }
    }

    @Test("a pusher that was killed is offline for who looks once, as the daemon knows it")
    func killed() async throws {
        try await withMachine { machine, daemon in
            let other = try TemporaryHome()
            defer { other.remove() }
            #expect(try await other.kvs("join", daemon.pair()).status == 0)
            let pusher = try RunningProgram(machine, "usage-push", ["--watch", "--verbose"])
            _ = await pusher.errors.first { $0.hasSuffix("connected") }
            func shows(_ text: String, _ options: [String] = []) async throws {
                while try await !other.run("usage-view", options).text.contains(text) { try Task.checkCancellation() }
            }
            try await shows("online")
            pusher.send(SIGKILL)
            try await shows("offline")
            try await shows("desk: offline", ["--plain"])
            try await shows(#""availability" : "offline""#, ["--json"])
        }
    }

    @Test("so do commands, whose many attempts keep nobody else at this address from joining")
    func commands() async throws {
        try await withMachine { machine, daemon in
            #expect(try await machine.run("usage-push", []).status == 0)
            try await remove(daemon)
            for _ in 0..<8 {
                let pushed = try await machine.run("usage-push", [])
                #expect(pushed.status == 69)
                #expect(pushed.errors.contains("removed from the account"), "\(pushed.errors)")
                #expect(pushed.errors.contains("ubq join LINE"))
                let shown = try await machine.run("usage-view", [])
                #expect(shown.status == 0 && shown.text.contains("Removed from the account"))
                let json = try await machine.run("usage-view", ["--json"])
                #expect(json.text.contains(#""state" : "removed""#))
                let status = try await machine.run("usage-view", ["status"])
                #expect(status.text.hasPrefix("removed: ubq join | Codex"), "\(status.text)")
            }
            let other = try TemporaryHome()
            defer { other.remove() }
            let joined = try await other.kvs("join", daemon.pair())
            #expect(joined.status == 0, "\(joined.errors)")

            let left = try await machine.kvs("leave")
            #expect(left.status == 0, "\(left.errors)")
            let back = try await machine.kvs("join", "--name", "desk", daemon.pair())
            #expect(back.status == 0, "\(back.errors)")
            #expect(try await machine.run("usage-push", []).status == 0)
            let shown = try await machine.run("usage-view", [])
            #expect(!shown.text.contains("emoved"), "\(shown.text)")
        }
    }
}
