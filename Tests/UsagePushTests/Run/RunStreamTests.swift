import Foundation
import StoreTestSupport
import TestSupport
import Testing

/// The real program with scripts that print what Claude Code does with `--output-format stream-json`.
@Suite("usage-push run with a stream", .temporaryHome, .timeLimit(.minutes(5)))
struct RunStreamTests {
    private let here = RunHome()
    private var home: TemporaryHome { here.home }

    private func run(_ options: String..., input: Data? = nil) async throws -> TemporaryHome.Outcome {
        try await home.run(
            "usage-push", ["run"] + options + ["--", "claude", "--output-format=stream-json"], input: input)
    }

    @Test("every byte passes through unchanged, errors stay errors, and the input is the command's", arguments: 0..<4)
    func bytes(seed: UInt64) async throws {
        var randomness = SeededGenerator(seed: seed)
        var bytes = Data()
        for _ in 0..<Int.random(in: 1...60, using: &randomness) {
            let count = Int.random(in: 0...60_000, using: &randomness)
            switch Int.random(in: 0..<3, using: &randomness) {
            case 0: bytes += Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &randomness) })
            case 1: bytes += Data(repeating: UInt8(ascii: "{"), count: count)
            default: bytes += Data((here.event("allowed", 0.5) + "\n").utf8)
            }
        }
        try home.script("claude", "echo error >&2; exec cat")
        let outcome = try await run(input: bytes)
        #expect(outcome.status == 0 && outcome.output == bytes && outcome.errors == "error\n")
    }

    @Test("what is printed is passed on at once, without the end of its line")
    func immediately() async throws {
        try home.script(
            "claude", #"printf half; while [ ! -e "$HOME/seen" ]; do :; done; echo ' line'; exit 3"#)
        let runner = try RunningProgram(
            home, "/bin/sh",
            [
                "-c",
                #"{ "$@"; echo $? >&2; } | { head -c 4 >"$HOME/seen.part"; mv "$HOME/seen.part" "$HOME/seen"; cat; }"#,
                "sh", try #require(TemporaryHome.program("usage-push")).path, "run", "--", "claude",
                "--output-format", "stream-json",
            ])
        #expect(await runner.output.first { _ in true } == " line")
        #expect(await runner.errors.first { _ in true } == "3")
        #expect(try home.text("seen") == "half")
    }

    @Test("without a reader the command ends as it does without the runner")
    func closedReader() async throws {
        try home.script("claude", "exec yes")
        let program = try #require(TemporaryHome.program("usage-push")).path
        let outcome = try await home.shell(
            "{ '\(program)' run -- claude --output-format stream-json; echo $? >&2; } | head -c 6")
        #expect(outcome.text == "y\ny\ny\n" && outcome.errors == "141\n")
    }

    @Test("a signal reaches the command, which decides how both end", arguments: [SIGINT, SIGTERM, SIGHUP])
    func signals(signal: Int32) async throws {
        try home.script("claude", "trap 'exit 9' INT TERM HUP; echo ready; while :; do :; done")
        let runner = try here.start("--", "claude", "--output-format", "stream-json")
        #expect(await runner.output.first { _ in true } == "ready")
        runner.send(signal)
        #expect(await runner.status() == 9)
    }

    @Test("limits that the stream states are pushed, also from the middle of a line")
    func reading() async throws {
        let lines = [
            #"{"type":"assistant","text":"partial"# + here.event("allowed_warning", 0.81), #"rest of it"}"#,
            #"{"type":"result","is_error":false,"session_id":"s-1"}"#,
        ]
        try home.script("claude", "cat <<'end'\n\(lines.joined(separator: "\n"))\nend")
        #expect(try await run().status == 0)
        let printed = try await home.run("usage-push", ["--print"])
        let document = try #require(try JSONSerialization.jsonObject(with: printed.output) as? [String: Any])
        let providers = try #require(document["providers"] as? [[String: Any]])
        #expect(providers.map { $0["providerID"] as? String } == ["claude"])
        #expect(printed.text.contains(#""usedPercent":81"#), "\(printed.text)")
        #expect(try await home.run("usage-push", ["--quiet"]).status == 0)
        #expect(try await run("--max", "81").status == 75)
        #expect(try await run("--max", "82").status == 0)
    }

    @Test("a command that fails because Claude refuses ends with 75, the reset, and how to resume")
    func rejection() async throws {
        try home.script("claude", "echo '\(here.event("rejected", 1))'; exit 1")
        let refused = try await run()
        #expect(refused.status == 75 && refused.text == here.event("rejected", 1) + "\n")
        #expect(refused.errors.contains("claude ended with status 1: Claude session: 100 % used"))
        #expect(refused.errors.contains("resets in 2h") && refused.errors.contains("claude --resume s-1"))
        for (script, status) in [
            ("echo '\(here.event("rejected", 1))'", 0),
            ("echo '\(here.event("rejected", 1))'; echo '\(here.event("allowed", 0.1))'; exit 2", 2),
            ("echo '\(here.event("rejected", 1))'; exit 130", 130),
        ] as [(String, Int32)] {
            try home.script("claude", script)
            let other = try await run()
            #expect(other.status == status && other.errors.isEmpty, "\(other.errors)")
        }
    }

    @Test("with --wait a refused command waits for the reset, and then says how to resume")
    func waitForReset() async throws {
        let event = here.event("rejected", 1, reset: Date() + 3)
        try home.script("claude", "echo '\(event)'; exit 1")
        let runner = try here.startEarly("--wait", "--", "claude", "--output-format", "stream-json")
        var lines: [String] = []
        for await line in runner.errors { lines.append(line) }
        #expect(await runner.status() == 75)
        #expect(lines.count == 2 && lines.last == "usage-push: to resume: claude --resume s-1", "\(lines)")
    }

    @Test("an interruption ends the wait for a reset")
    func interruption() async throws {
        try home.script("claude", "echo '\(here.event("rejected", 1))'; exit 1")
        let runner = try here.start("--wait", "--", "claude", "--output-format", "stream-json")
        #expect(await runner.errors.first { $0.contains("Waiting for the reset, at most 6h") } != nil)
        runner.interrupt()
        #expect(await runner.status() == -SIGINT)
    }
}
