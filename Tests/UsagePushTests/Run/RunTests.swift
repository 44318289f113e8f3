import Foundation
import TestSupport
import Testing

@testable import UsageState

/// The real program with agents that are scripts.
@Suite("usage-push run", .temporaryHome, .timeLimit(.minutes(5)))
struct RunTests {
    private let here = RunHome()
    private var home: TemporaryHome { here.home }

    @Test(
        "a command that may start is the process: its status, or the signal that ended it, is",
        arguments: [("exit 0", 0), ("exit 3", 3), ("kill -TERM $$", -SIGTERM), ("kill -KILL $$", -SIGKILL)])
    func status(script: String, status: Int32) async throws {
        try home.script("claude", script)
        #expect(try await here.start("--", "claude").status() == status)
        #expect(try await here.start("--", "claude", "--output-format", "stream-json").status() == status)
    }

    @Test("arguments are passed byte for byte, also those that look like options, and so is standard input")
    func arguments() async throws {
        try home.script("claude", #"printf '<%s>' "$@"; cat"#)
        let program = try #require(TemporaryHome.program("usage-push")).path
        let outcome = try await home.shell(
            #"exec "$0" run --max 95 -- claude -p --help 'a  b' '' '$HOME' -- "$(printf '\377')" --wait"#
                .replacing("$0", with: program),
            input: Data("in".utf8))
        let expected = Data("<-p><--help><a  b><><$HOME><--><".utf8) + [0xFF] + Data("><--wait>in".utf8)
        #expect(outcome.status == 0 && outcome.output == expected, "\(outcome.errors)")
    }

    @Test(
        "a command has the signals, descriptors and variables that it has without the runner",
        .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/status")),
        arguments: ["", "trap '' PIPE;", "trap '' HUP INT;", "exec 7</dev/null;"])
    func untouched(before: String) async throws {
        try home.script(
            "claude",
            #"""
            # Signals above 32 are those of the C library.
            sed -nE 's/^(Sig(Blk|Ign|Cgt).*)[0-9a-f]{8}([0-9a-f]{8})/\1\3/p' /proc/self/status
            ls /proc/self/fd; env | grep -v '^_=' | sort
            """#)
        let program = try #require(TemporaryHome.program("usage-push")).path
        // Numbers that have to be read first.
        try await here.push(10)
        let direct = try await home.shell(before + "exec claude")
        let run = try await home.shell(before + "exec '\(program)' run --max 95 -- claude")
        #expect(direct.text.contains("SigIgn") && direct.text == run.text, "\(direct.text)\n\(run.text)\n\(run.errors)")
    }

    @Test("a command that is not there or no program is named, with the status of a shell")
    func unrunnable() async throws {
        let file = try home.file("bin/codex", "")
        for options in [[], ["--output-format", "stream-json"]] {
            let missing = try await home.run("usage-push", ["run", "--", "claude"] + options)
            #expect(missing.status == 127 && missing.errors.contains("cannot run claude: no such file"))
            let other = try await home.run("usage-push", ["run", "--provider", "claude", "--", file] + options)
            #expect(other.status == 126 && other.errors.contains("cannot run \(file): permission denied"))
        }
    }

    @Test("a command of no known tool needs --provider, and one is needed at all")
    func usage() async throws {
        let unnamed = try await here.run("--", "./script.sh")
        #expect(unnamed.status == 64 && unnamed.errors.contains("--provider claude, codex"))
        #expect(try await here.run().status == 64)
        #expect(try await here.run("--max", "0", "--", "claude").status == 64)
        #expect(try await here.run("--at-most", "1h", "--", "claude").status == 64)
        for known in ["claude", "Codex", "budget"] {
            #expect(try await here.run("--provider", known, "--", "true").status == 0, "\(known)")
        }
        let misspelled = try await here.run("--provider", "clade", "--max", "90", "--", "true")
        #expect(misspelled.status == 64 && misspelled.errors.contains("no provider 'clade'; known: "))
    }

    @Test("above --max nothing starts: 75, with the number and the reset; JSON says the same")
    func refused() async throws {
        try home.script("claude", "touch \"$HOME/started\"")
        try await here.push(95)
        let refused = try await here.run("--max", "95", "--json", "--", "claude", "-p", "hello")
        #expect(refused.status == 75 && !home.exists("started"))
        #expect(refused.errors.contains("95 % used") && refused.errors.contains("Not started by --max 95 %"))
        #expect(refused.errors.split(separator: "\n").count == 1)
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let document = try decoder.decode(Refusal.self, from: refused.output)
        #expect(!document.allowed && document.usedPercent == 95 && document.resetsAt == here.reset)
        #expect("usage-push: \(document.sentence)\n" == refused.errors)
        #expect(try await here.run("--max", "95.5", "--", "claude").status == 0)
        #expect(home.exists("started"))
    }

    private struct Refusal: Decodable {
        var allowed: Bool
        var sentence: String
        var usedPercent: Double
        var resetsAt: Date
    }

    @Test("the rules of the machine hold: stop and pause refuse, tell says it and starts")
    func rules() async throws {
        try home.script("claude", "echo started")
        try await here.push(96)
        for action in [GateRule.Action.stop, .pause] {
            try here.rules(GateRule(.used(percent: 90), then: action))
            let refused = try await here.run("--", "claude")
            #expect(refused.status == 75 && refused.output.isEmpty)
            #expect(refused.errors.contains("your rule (any limit at 90 %: \(action.rawValue)"))
        }
        try here.rules(GateRule(.used(percent: 90), then: .tell))
        let told = try await here.run("--", "claude")
        #expect(told.status == 0 && told.text == "started\n" && told.errors.contains("You asked to be notified"))
        var elsewhere = GateRule(.used(percent: 90), then: .stop)
        elsewhere.directory = "/nowhere"
        try here.rules(elsewhere)
        #expect(try await here.run("--", "claude").errors.isEmpty)
    }

    @Test("without numbers everything starts; whoever named a limit learns that it is not checked")
    func unknown() async throws {
        try home.script("claude", "exit 4")
        #expect(try await here.run("--", "claude").errors.isEmpty)
        let limited = try await here.run("--max", "1", "--", "claude")
        #expect(limited.status == 4 && limited.errors.contains("--max 1 % is not checked"))
    }

    @Test("where the replica cannot be opened, the numbers that are kept for hooks count")
    func kept() async throws {
        try home.script("claude", "true")
        let usage = GateUsage(reached: "Weekly", of: "claude", name: "Claude", resetsAt: here.reset, at: Date())
        try home.file(".local/state/ubiquity/gate/usage.json", String(decoding: #require(usage.data), as: UTF8.self))
        try home.file(".local/share", "no directory")
        #expect(try await here.run("--max", "99", "--", "claude").status == 75)
        #expect(try await here.run("--max", "101", "--", "claude").status == 0)
    }

    @Test("a command that waits starts when the numbers or the rules allow it", arguments: [true, false])
    func wait(byNumbers: Bool) async throws {
        try home.script("claude", "echo started \"$@\"; exit 6")
        try await here.push(96)
        try here.rules(GateRule(.used(percent: 95), then: byNumbers ? .pause : .stop))
        let runner = try here.startEarly("--wait", "--", "claude", "now")
        let waits = await runner.errors.first { $0.contains("Waiting by your rule") }
        #expect(waits?.contains("96 % used") == true && waits?.contains("at most 6h") == true)
        if byNumbers { try await here.push(10) } else { try here.rules() }
        #expect(await runner.output.first { _ in true } == "started now")
        #expect(await runner.status() == 6)
    }

    @Test("an interruption ends a command that waits, by its signal", arguments: [SIGINT, SIGTERM, SIGHUP])
    func interruption(signal: Int32) async throws {
        try await here.push(96)
        let runner = try here.start("--max", "90", "--wait", "--at-most", "7d", "--", "claude")
        #expect(await runner.errors.first { $0.contains("Waiting by --max 90 %, at most 7d") } != nil)
        runner.send(signal)
        #expect(await runner.status() == -signal)
    }

    @Test("a command that has waited long enough does not start")
    func waitLimit() async throws {
        try await here.push(96)
        let outcome = try await here.run("--max", "90", "--wait", "--at-most", "0s", "--", "claude")
        #expect(outcome.status == 75 && outcome.errors.hasSuffix("Not started by --max 90 %.\n"))
    }
}
