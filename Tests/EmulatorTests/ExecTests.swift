import Foundation
import KVStoreTesting
import TestSupport
import Testing

/// `kvsd emulator exec` with the built programs.
@Suite("kvsd emulator exec", .timeLimit(.minutes(5)))
struct ExecTests {
    private let home = try! TemporaryHome()

    /// Runs a shell script in the emulator, in which `$kvs` is the command.
    private func exec(
        _ script: String, options: [String] = [], input: Data? = nil
    ) async throws -> TemporaryHome.Outcome {
        let kvs = try #require(TemporaryHome.program("kvs")).path
        return try await home.run(
            "kvsd", ["emulator", "exec"] + options + ["--", "/bin/sh", "-c", "kvs='\(kvs)'; " + script], input: input)
    }

    private func content(_ name: String) throws -> String {
        try String(contentsOfFile: home.path + "/" + name, encoding: .utf8)
    }

    @Test("two devices of one world converge, and a third of another sees nothing")
    func devices() async throws {
        defer { home.remove() }
        let outcome = try await exec(
            """
            $kvs set color green --require-sync --timeout 120 &&
            UBIQUITY_TOKEN=default/desk $kvs get color --fresh --timeout 120 &&
            UBIQUITY_TOKEN=default/desk $kvs set color red --require-sync --timeout 120 &&
            $kvs get color --fresh --timeout 120 &&
            ! UBIQUITY_TOKEN=other/desk $kvs get color --fresh --timeout 120
            """)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.text == "greenred")
    }

    @Test("a record of a simulated cloud is refused with what replays it")
    func cloudRecord() async throws {
        defer { home.remove() }
        let path = home.path + "/record.jsonl"
        _ = SimulatedCloud(seed: 1, record: path)
        let outcome = try await home.run("kvsd", ["emulator", "replay", path])
        #expect(outcome.status == 65)
        #expect(
            outcome.errors.contains(
                "it is the record of a SimulatedCloud; run its test with SimulatedCloud(replaying:)"))
    }

    @Test("a record that cannot be written to its end fails a command that succeeds")
    func fullDisk() async throws {
        defer { home.remove() }
        let succeeded = try await exec("exit 0", options: ["--record", "/dev/full"])
        #expect(succeeded.status == 74, "\(succeeded.errors)")
        #expect(succeeded.errors.contains("the record /dev/full ends early: no space left"))
        #expect(try await exec("exit 3", options: ["--record", "/dev/full"]).status == 3)
        let path = home.path + "/record.jsonl"
        #expect(try await exec("exit 0", options: ["--record", path]).status == 0)
        let replayed = try await home.run("kvsd", ["emulator", "replay", path, "--record", "/dev/full"])
        #expect(replayed.status == 74, "\(replayed.errors)")
    }

    @Test("only its user can read a record, and it follows no link")
    func privateRecord() async throws {
        defer { home.remove() }
        let path = home.path + "/record.jsonl"
        try home.file("record.jsonl", String(repeating: "old\n", count: 1_000))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        #expect(try await exec("exit 0", options: ["--record", path]).status == 0)
        let permissions = try FileManager.default.attributesOfItem(atPath: path)
        #expect(permissions[.posixPermissions] as? Int == 0o600)
        #expect(try !content("record.jsonl").contains("old"))
        try home.file("target", "kept")
        let link = home.path + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: home.path + "/target")
        let refused = try await exec("exit 0", options: ["--record", link])
        #expect(refused.status == 73 && refused.errors.contains("not a regular file"))
        #expect(try content("target") == "kept")
    }

    @Test("the environment names the emulator, and directories that are gone afterwards")
    func environment() async throws {
        defer { home.remove() }
        let outcome = try await exec(
            """
            $kvs set k v --require-sync --timeout 120
            echo "$UBIQUITY_DAEMON|$UBIQUITY_TOKEN|$UBIQUITY_EMULATOR"
            test -d "$UBIQUITY_DATA_DIR/replicas" && echo "$UBIQUITY_DATA_DIR|$UBIQUITY_CONFIG_DIR"
            """, options: ["--world", "test-1"])
        let lines = outcome.text.split(separator: "\n").map { $0.split(separator: "|") }
        try #require(lines.count == 2 && lines[0].count == 3 && lines[1].count == 2)
        #expect(lines[0][1] == "test-1/device")
        #expect(lines[0][2] == lines[0][0] + "/emulator/v1")
        for path in lines[1] {
            let directory = (String(path) as NSString).deletingLastPathComponent
            #expect(!FileManager.default.fileExists(atPath: directory))
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: home.path)
        #expect(left.isEmpty, "\(left)")
    }

    @Test("--ui prints the URL of the page, which is there while the command runs")
    func page() async throws {
        defer { home.remove() }
        let outcome = try await exec(#"printf '%s/' "${UBIQUITY_EMULATOR%/emulator/v1}""#, options: ["--ui"])
        #expect(outcome.status == 0 && outcome.text.hasPrefix("http://127.0.0.1:"))
        #expect(outcome.errors == "page: \(outcome.text)\n")
    }

    @Test("a world is imported and exported byte for byte, and exported as the command left it")
    func files() async throws {
        defer { home.remove() }
        let document = """
            {"stores":[
              {"store":"default","values":[
                {"key":"color","type":"string","value":"green"},
                {"key":"size","type":"integer","value":7}
              ]}
            ],"version":1}

            """
        let before = try home.file("before.json", document)
        let after = home.path + "/after.json"
        let options = ["--import", before, "--export-on-exit", after]
        let unchanged = try await exec("$kvs get color --fresh --timeout 120; exit 3", options: options)
        #expect(unchanged.status == 3 && unchanged.text == "green", "\(unchanged.errors)")
        #expect(try content("after.json") == document)
        let changed = try await exec("$kvs set color red --require-sync --timeout 120", options: options)
        #expect(changed.status == 0, "\(changed.errors)")
        #expect(try content("after.json") == document.replacing("green", with: "red"))
    }

    @Test("a file that cannot be imported is an error before the command runs")
    func invalidImport() async throws {
        defer { home.remove() }
        let file = try home.file(
            "x.json", #"{"version":1,"stores":[{"store":"s","values":[{"key":"k","type":"bool","value":1.5}]}]}"#)
        let invalid = try await exec("echo ran", options: ["--import", file])
        #expect(invalid.status == 65 && invalid.text.isEmpty)
        #expect(invalid.errors.contains("store s: key k:"), "\(invalid.errors)")
        let missing = try await exec("echo ran", options: ["--import", file + "x"])
        #expect(missing.status == 66 && missing.text.isEmpty)
    }

    @Test("the command has this program's input, and its status is that of exec", arguments: [0, 1, 200])
    func status(status: Int32) async throws {
        defer { home.remove() }
        let outcome = try await exec("cat; exit \(status)", input: Data("input".utf8))
        #expect(outcome.status == status && outcome.text == "input" && outcome.errors.isEmpty)
    }

    @Test("the status of a killed command is 128 plus the signal")
    func killed() async throws {
        defer { home.remove() }
        #expect(try await exec("kill -KILL $$").status == 137)
        #expect(try await exec("kill -TERM $$").status == 143)
    }

    @Test("a command that is not found or cannot be run has the status of a shell")
    func unusable() async throws {
        defer { home.remove() }
        let missing = try await home.run("kvsd", ["emulator", "exec", "--", "no-such-command"])
        #expect(missing.status == 127 && missing.errors.contains("no-such-command"))
        let file = try home.file("plain", "")
        #expect(try await home.run("kvsd", ["emulator", "exec", "--", file]).status == 126)
        for arguments in [["exec"], ["exec", "--"], ["exec", "--", ""]] {
            #expect(try await home.run("kvsd", ["emulator"] + arguments).status == 64)
        }
        let world = try await home.run("kvsd", ["emulator", "exec", "--world", "a/b", "--", "true"])
        #expect(world.status == 64 && world.errors.contains("invalid world"))
    }

    @Test("signals reach the command, which decides how it ends", arguments: [SIGTERM, SIGINT, SIGHUP, SIGUSR1])
    func signals(number: Int32) async throws {
        defer { home.remove() }
        let program = try RunningProgram(
            home, "kvsd",
            [
                "emulator", "exec", "--", "/bin/sh", "-c",
                """
                trap 'echo caught; exit 5' TERM INT HUP USR1
                mkfifo "$HOME/p"; exec 3<>"$HOME/p"
                echo ready; read line <&3
                """,
            ])
        var lines = program.output.makeAsyncIterator()
        #expect(await lines.next() == "ready")
        program.send(number)
        #expect(await lines.next() == "caught")
        #expect(await program.status() == 5)
    }

    @Test("what the command has written is exported when a terminal ends", arguments: [SIGTERM, SIGHUP])
    func endingSignals(number: Int32) async throws {
        defer { home.remove() }
        let program = try RunningProgram(
            home, "kvsd",
            [
                "emulator", "exec", "--export-on-exit", home.path + "/after.json", "--", "/bin/sh",
                "-c", #"mkfifo "$HOME/p"; exec 3<>"$HOME/p"; echo ready; read line <&3"#,
            ])
        var lines = program.output.makeAsyncIterator()
        #expect(await lines.next() == "ready")
        program.send(number)
        #expect(await program.status() == 128 + number)
        #expect(try content("after.json").contains("stores"))
    }

    @Test("the command inherits no descriptor of the emulator")
    func descriptors() async throws {
        defer { home.remove() }
        let kvsd = try #require(TemporaryHome.program("kvsd")).path
        // One shell runs both, so that the emulator inherits what the shell does.
        let outcome = try await home.run(
            "/bin/sh",
            [
                "-c",
                """
                cd "$HOME" && ls /dev/fd | sort > outside
                '\(kvsd)' emulator exec -- /bin/sh -c 'ls /dev/fd | sort > inside'
                diff outside inside
                """,
            ])
        #expect(outcome.status == 0, "\(outcome.text)")
    }

    @Test("the device that the token names is marked in the list")
    func thisDevice() async throws {
        defer { home.remove() }
        let outcome = try await exec(
            "UBIQUITY_TOKEN=default/desk $kvs device list >/dev/null; $kvs device list --json --timeout 120")
        let devices = try #require(try JSONSerialization.jsonObject(with: outcome.output) as? [[String: Any]])
        #expect(devices.map { $0["device"] as? String } == ["desk", "device"])
        #expect(devices.map { $0["thisDevice"] as? Bool } == [false, true])
    }

    @Test("joining and leaving name the variables that decide")
    func joining() async throws {
        defer { home.remove() }
        let outcome = try await exec("$kvs join; echo $?; $kvs leave; echo $?; $kvs pair; $kvs status --json")
        #expect(outcome.text.hasPrefix("78\n78\n"), "\(outcome.text)")
        #expect(outcome.errors.contains("cannot join: UBIQUITY_DAEMON and UBIQUITY_TOKEN"))
        #expect(outcome.errors.contains("any token"), "\(outcome.errors)")
        #expect(outcome.text.contains(#""account" : "default""#))
    }
}
