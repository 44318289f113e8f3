import Foundation
import TestSupport
import TerminalText
import Testing

/// `kvs join` and `kvs leave` beside programs that stay open, all as programs.
@Suite("Programs that follow the account", .timeLimit(.minutes(5)))
struct FollowedAccountTests {
    /// A daemon, and two devices that have joined nothing.
    private func withDaemon(
        _ body: (PairedDaemon, _ desk: TemporaryHome, _ phone: TemporaryHome) async throws -> Void
    ) async throws {
        let homes = [try TemporaryHome(), try TemporaryHome(), try TemporaryHome()]
        defer { for home in homes { home.remove() } }
        let daemon = try await PairedDaemon(homes[0])
        do { try await body(daemon, homes[1], homes[2]) } catch { Issue.record(error) }
        await daemon.stop()
    }

    private func join(_ daemon: PairedDaemon, _ home: TemporaryHome) async throws -> TemporaryHome.Outcome {
        let outcome = try await home.kvs(
            "join", try await daemon.pair(), "--timeout", "120", "--name", "d\(Int.random(in: 0...999_999))")
        #expect(outcome.status == 0, "\(outcome.errors)")
        return outcome
    }

    private func push(_ percent: Int, _ home: TemporaryHome) throws {
        try home.file(
            ".config/ubiquity/providers.d/mytool.json",
            """
            {"providerID": "mytool", "providerName": "My Tool",
             "rateWindows": [{"usedPercent": \(percent), "label": "Plan"}]}
            """)
    }

    /// The snapshot that was pushed last.
    private func pushed(_ home: TemporaryHome) async throws -> String {
        let outcome = try await home.kvs("get", "com.codexbar.usage.snapshot", "--raw")
        #expect(outcome.status == 0, "\(outcome.errors)")
        return outcome.text
    }

    /// Waits for a line that contains a text.
    private func wait(for text: String, _ lines: inout AsyncStream<String>.Iterator) async {
        while let line = await lines.next() {
            if line.contains(text) { return }
        }
        Issue.record("the program ended before it said '\(text)'")
    }

    @Test("a watch, a pusher and a viewer that are open follow joining and leaving")
    func following() async throws {
        try await withDaemon { daemon, desk, phone in
            #expect(try await join(daemon, phone).status == 0)
            #expect(try await phone.kvs("set", "note", "v", "--require-sync").status == 0)
            #expect(try await desk.kvs("set", "own", "v").status == 0)
            try push(57, desk)
            let watch = try RunningProgram(desk, "kvs", ["watch"])
            var (keys, states) = (watch.output.makeAsyncIterator(), watch.errors.makeAsyncIterator())
            let pusher = try RunningProgram(desk, "usage-push", ["--watch"])
            var notes = pusher.errors.makeAsyncIterator()
            let terminal = try PseudoTerminal()
            defer { terminal.closeBoth() }
            terminal.resize(columns: 80, rows: 24)
            var home = desk
            home.variables["TERM"] = "xterm"
            let viewer = try RunningProgram(home, "usage-view", ["--watch"], terminal: terminal)
            var screen = TerminalScreen(columns: 80, rows: 24) { CellWidth.of($0) }
            await wait(for: "watching this machine only", &states)
            await wait(for: "mytool", &notes)
            await terminal.show(on: &screen, until: "this machine only")

            let id = "daemonDeviceID"
            #expect(try await !pushed(desk).contains(id))
            let joined = try await join(daemon, desk)
            // What is open has not kept the replica from becoming the account's.
            #expect(joined.text.contains("are now part of the account"), "\(joined.text)")
            await wait(for: "connected", &states)
            await wait(for: "note", &keys)
            await wait(for: "the account has changed", &notes)
            await wait(for: "mytool", &notes)
            let device = try #require(joined.text.firstMatch(of: /\(([0-9a-f]{16})\)/)?.1)
            #expect(try await pushed(desk).contains("\"\(id)\":\"\(device)\""))
            await terminal.show(on: &screen) { !$0.text.contains("this machine only") }

            #expect(try await desk.kvs("leave").status == 0)
            await wait(for: "watching this machine only", &states)
            await wait(for: "the account has changed", &notes)
            await wait(for: "mytool", &notes)
            #expect(try await !pushed(desk).contains(id))
            await terminal.show(on: &screen, until: "this machine only")
            for program in [watch, pusher, viewer] { program.send(SIGTERM) }
            for program in [watch, pusher, viewer] { _ = await program.status() }
        }
    }

    @Test("a status line that is followed is that of the account which is joined")
    func statusLine() async throws {
        try await withDaemon { daemon, desk, phone in
            _ = try await join(daemon, desk)
            try push(57, desk)
            #expect(try await desk.run("usage-push", []).text.contains("pushed"))
            let status = try RunningProgram(phone, "usage-view", ["status", "--follow"])
            var lines = status.output.makeAsyncIterator()
            await wait(for: "–", &lines)
            _ = try await join(daemon, phone)
            await wait(for: "57 % used", &lines)
            #expect(try await phone.kvs("leave").status == 0)
            await wait(for: "–", &lines)
            status.interrupt()
            _ = await status.status()
        }
    }

    @Test("nothing moves into an account whose credentials cannot be written")
    func failure() async throws {
        try await withDaemon { daemon, desk, _ in
            #expect(try await desk.kvs("set", "own", "v").status == 0)
            try desk.directory(".config/ubiquity/credentials.json/taken")
            let outcome = try await desk.kvs("join", try await daemon.pair(), "--timeout", "120")
            #expect(outcome.status == 73, "\(outcome.errors)")
            try FileManager.default.removeItem(atPath: desk.path + "/.config/ubiquity/credentials.json")
            #expect(try await desk.kvs("get", "own").text == "v")
        }
    }
}
