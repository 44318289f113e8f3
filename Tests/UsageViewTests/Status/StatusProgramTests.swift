import Foundation
import KVStoreEssentials
import StoreTestSupport
import TestSupport
import SnapshotModels
import TerminalText
import Testing

@testable import usage_view

@Suite("Status lines and gates as programs", .temporaryHome, .timeLimit(.minutes(5)))
struct StatusProgramTests {
    private let usage = InventedUsage(now: Date())

    private func home(_ providers: ProviderUsageSnapshot...) throws -> TemporaryHome {
        let home = TemporaryHome.ofTest
        if !providers.isEmpty {
            let store = try home.openStore()
            store.set(
                try SnapshotCodec.encode(usage.snapshot(providers)),
                forKey: SyncedUsageSnapshot.storeKey(deviceID: "d1"))
            store.close()
        }
        return home
    }

    private func codex(_ percent: Double) -> ProviderUsageSnapshot {
        usage.account("codex", [usage.window(percent, resetsIn: 600)])
    }

    private var replica: String { ".local/share/ubiquity/replicas/local/default" }

    @Test("without a replica the line is a dash, and nothing is created")
    func nothing() async throws {
        let home = try home()
        let outcome = try await home.run("usage-view", ["status"])
        #expect(outcome.status == 0 && outcome.text == "–\n" && outcome.errors.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.path).isEmpty)
        let check = try await home.run("usage-view", ["check"])
        #expect(check.status == 69 && check.text == "unknown: nothing has been pushed yet\n")
    }

    @Test("a damaged replica is left as it is, and the line is a dash")
    func damaged() async throws {
        let home = try home(codex(40))
        let log = "\(home.path)/\(replica)/0000000000000001.log"
        var bytes = try Data(contentsOf: URL(filePath: log))
        let key = try #require(bytes.range(of: Data(SyncedUsageSnapshot.storeKey.utf8)))
        bytes[key.lowerBound] ^= 1
        // A valid record after the damaged one.
        try home.push(codex(41), from: usage)
        var newer = try Data(contentsOf: URL(filePath: log))
        newer.replaceSubrange(key, with: bytes[key])
        try newer.write(to: URL(filePath: log))
        let outcome = try await home.run("usage-view", ["status"])
        #expect(outcome.status == 0 && outcome.text == "–\n" && outcome.errors.isEmpty)
        #expect(try Data(contentsOf: URL(filePath: log)) == newer)
        let json = try await home.run("usage-view", ["status", "--json"])
        #expect(json.text.contains(#""situation" : "unreadable""#))
        let check = try await home.run("usage-view", ["check", "--fail-open"])
        #expect(check.status == 0 && check.text.contains("damaged"))
    }

    @Test("a replica that another process holds locked is read")
    func locked() async throws {
        let home = try home(codex(40))
        let lock = open("\(home.path)/\(replica)/lock", O_RDWR)
        defer { close(lock) }
        try #require(flock(lock, LOCK_EX | LOCK_NB) == 0)
        let outcome = try await home.run("usage-view", ["status"])
        #expect(outcome.text == "Codex 5h 40 % used · 10h\n")
    }

    @Test("options after a subcommand are the subcommand's, those of the program work as before")
    func options() async throws {
        let home = try home(codex(40))
        let left = try await home.run("usage-view", ["status", "--left", "--store", "default"])
        #expect(left.text == "Codex 5h 60 % left · 10h\n")
        let report = try await home.run("usage-view", ["--json", "--timeout", "0"])
        #expect(report.text.contains(#""providers""#))
        let usage = try await home.run("usage-view", ["status", "--format", "nope"])
        #expect(usage.status == 64 && usage.errors.contains("use tmux, waybar"))
        #expect(usage.errors.contains("See 'usage-view status --help'"))
    }

    @Test("JSON of the programs is valid by the schema")
    func schema() async throws {
        let home = try home(codex(40))
        let schema = try JSONSchema(Repository.data("docs/usage-report.schema.json"))
        for arguments in [["--json"], ["status", "--json"], ["check", "--json"]] {
            let output = try await home.run("usage-view", arguments).output
            #expect(try schema.problems(of: output) == [], "\(arguments)")
        }
    }

    @Test(
        "check says by its status whether a threshold is exceeded",
        arguments: [
            (["--max", "50"], 0), (["--max", "39"], 1), (["--max", "x"], 64), (["--max", "-1"], 64),
            (["--provider", "nope"], 69), (["--provider", "nope", "--fail-open"], 0),
            (["--max", "39", "--fail-open", "--timeout", "1"], 1), (["--timeout", "61"], 64),
            (["--json", "--quiet"], 64),
        ] as [([String], Int32)])
    func check(arguments: [String], status: Int32) async throws {
        let home = try home(codex(40))
        let outcome = try await home.run("usage-view", ["check"] + arguments)
        #expect(outcome.status == status, "\(outcome)")
        let quiet = try await home.run("usage-view", ["check", "--quiet", "--max", "39"])
        #expect(quiet.status == 1 && quiet.output.isEmpty && quiet.errors.isEmpty)
    }

    @Test("metrics replace a file that other users can read, and print the same")
    func metrics() async throws {
        let home = try home(codex(40))
        let file = try home.file("usage.prom", "old\n")
        #expect(try await home.run("usage-view", ["metrics", "--output", file]).status == 0)
        let written = try String(contentsOfFile: file, encoding: .utf8)
        #expect(written == (try await home.run("usage-view", ["metrics"])).text)
        #expect(written.contains("\nubiquity_usage_window_used_ratio{"))
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect(attributes[.posixPermissions] as? Int == 0o644)
        let outcome = try await home.run("usage-view", ["metrics", "--output", "/nowhere/x"])
        #expect(outcome.status == 74 && outcome.errors.contains("/nowhere/x"))
    }

    @Test("a following line is printed again when another process pushes, and only if it changes")
    func follow() async throws {
        let home = try home()
        let program = try RunningProgram(
            home, "usage-view", ["status", "--format", "{provider} {percent}", "--follow"])
        var lines = program.output.makeAsyncIterator()
        #expect(await lines.next() == "–")
        try home.push(codex(40), from: usage)
        #expect(await lines.next() == "Codex 40 %")
        try home.push(codex(40), from: usage)
        try home.push(codex(41), from: usage)
        #expect(await lines.next() == "Codex 41 %")
    }

    @Test("tmux gets its first line again, since it draws none of the second in which it starts a program")
    func repetition() async throws {
        let home = try home(codex(40))
        let program = try RunningProgram(home, "usage-view", ["status", "--format", "tmux", "--follow"])
        var lines = program.output.makeAsyncIterator()
        let first = await lines.next()
        #expect(first?.contains("40 % used") == true)
        #expect(await lines.next() == first)
    }

    @Test("a following line ends at once and silently when its reader is gone", arguments: ["plain", "i3bar"])
    func closedPipe(format: String) async throws {
        let home = try home(codex(40))
        let outcome = try await home.shell(
            """
            { "\(try #require(TemporaryHome.program("usage-view")).path)" status --follow \
            --format \(format); echo "ended $?" >&2; } | { read -r line; echo "$line"; }
            """)
        #expect(outcome.errors == "ended 0\n")
        #expect(!outcome.text.isEmpty)
    }

    @Test("i3bar gets its protocol, and a click changes the block")
    func clicks() async throws {
        let home = try home(codex(40))
        let terminal = try PseudoTerminal()
        defer { terminal.closeBoth() }
        let program = try RunningProgram(
            home, "usage-view", ["status", "--format", "i3bar", "--follow"], terminal: terminal)
        await terminal.wait(toSee: "40 % used")
        terminal.type("[\n{\"name\":\"usage-view\",\"button\":1}\n")
        await terminal.wait(toSee: "60 % left")
        terminal.closeUser()
        program.send(SIGTERM)
        _ = await program.status()
    }

    @Test("a wait ends when another process pushes a lower number")
    func wait() async throws {
        let home = try home(codex(90))
        let terminal = try PseudoTerminal()
        defer { terminal.closeBoth() }
        let program = try RunningProgram(home, "usage-view", ["wait", "--until-below", "50"], terminal: terminal)
        await terminal.wait(toSee: "Codex 5h 90 % used · 10h")
        try home.push(codex(60), from: usage)
        await terminal.wait(toSee: "waiting: Codex 5h 60 % used")
        try home.push(codex(10), from: usage)
        #expect(await program.status() == 0)
    }

    @Test("a wait is ended by Control-C and by SIGTERM", arguments: [SIGINT, SIGTERM])
    func interrupted(signal: Int32) async throws {
        let home = try home(codex(90))
        let terminal = try PseudoTerminal()
        defer { terminal.closeBoth() }
        let program = try RunningProgram(home, "usage-view", ["wait", "--until-reset", "codex"], terminal: terminal)
        await terminal.wait(toSee: "waiting: ")
        program.send(signal)
        #expect(await program.status() == 128 + signal)
    }

    @Test("a wait ends at once when it is so, when its time is over, and when nothing is known")
    func waitAtOnce() async throws {
        let home = try home(
            usage.account("codex", [usage.window(99, resetsIn: -1)]),
            usage.account("claude", [usage.window(99, resetsIn: 600)]))
        func status(_ arguments: String...) async throws -> Int32 {
            try await home.run("usage-view", ["wait"] + arguments).status
        }
        #expect(try await status("--until-reset", "codex") == 0)
        #expect(try await status("--until-below", "99.5") == 0)
        #expect(try await status("--until-reset", "claude", "--timeout", "0.01s") == 1)
        #expect(try await status("--until-reset", "nope") == 69)
        #expect(try await status() == 64)
        #expect(try await status("--until-below", "50", "--until-reset", "codex") == 64)
        #expect(try await status("--until-reset", "codex", "--provider", "codex") == 64)
    }

    @Test("a wait ends at the reset without any new number")
    func waitForReset() async throws {
        let home = try home(usage.account("codex", [usage.window(99, resetsIn: 0.05)]))
        let outcome = try await home.run("usage-view", ["wait", "--until-reset", "codex"])
        #expect(outcome.status == 0 && outcome.errors.isEmpty)
        #expect(Date() >= usage.now.addingTimeInterval(2))
    }

    @Test("shells complete the commands, the formats and the stored providers")
    func completions() async throws {
        let home = try home(
            codex(40), usage.account("claude", []), usage.account("c$(touch$IFS~/run)", []), usage.account("c`id`", []))
        for shell in ["bash", "zsh", "fish"] {
            let script = try await home.run("usage-view", ["--generate-completion-script", shell]).text
            for word in ["status", "check", "wait", "metrics", "mcp", "until-reset", "polybar"] {
                #expect(script.contains(word), "\(shell): \(word)")
            }
            try home.file("completion.\(shell)", script)
        }
        let program = try #require(TemporaryHome.program("usage-view")).deletingLastPathComponent()
        func completed(_ words: String...) async throws -> String {
            let line = words.joined(separator: " ")
            let script = """
                PATH="\(program.path):$PATH"; . ~/completion.bash; COMP_WORDS=(\(line))
                COMP_CWORD=\(words.count - 1); COMP_LINE='\(line)'; COMP_POINT=${#COMP_LINE}
                _usage-view usage-view '\(words[words.count - 1])' '\(words[words.count - 2])'
                echo "${COMPREPLY[@]}"
                """
            return try await home.run("/bin/bash", ["-c", script]).text
        }
        #expect(try await completed("usage-view", "status", "--provider", "c") == "claude codex\n")
        #expect(try await completed("usage-view", "wait", "--until-reset", "co") == "codex\n")
        #expect(try await completed("usage-view", "status", "--format", "p") == "polybar plain\n")
        #expect(try await completed("usage-view", "ch") == "check\n")
        #expect(!FileManager.default.fileExists(atPath: home.path + "/run"))
    }
}
