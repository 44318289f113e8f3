import Foundation
import StoreTestSupport
import TestSupport
import Testing

@Suite("One command on each machine", .timeLimit(.minutes(5)))
struct DoorTests {
    @Test("from nothing to the bars of two machines and a phone it takes 'ubq up' here and 'ubq join' there")
    func twoMachines() async throws {
        let (here, there) = (try DoorHome(percent: 36), try DoorHome(percent: 71))
        let up = try await here.ubq("up", "--yes", "--port", "\(DoorHome.port())")
        try #require(up.status == 0, "\(up.errors) \(up.text)")
        #expect(up.text.contains(/https:\/\/[^ ]*\/#/), "the address for a phone")
        let joined = try await there.ubq(
            "join", "--yes", "--name", "there", DoorHome.local(try DoorHome.line(in: up.text)))
        try #require(joined.status == 0, "\(joined.errors) \(joined.text)")
        #expect(joined.text.contains("71 % used") && joined.text.contains("there"), "\(joined.text)")
        let bars = try await here.ubq()
        #expect(bars.status == 0 && bars.text.contains("71 % used"), "\(bars.text) \(bars.errors)")
        // Once its pusher has connected.
        try await wait { try await here.ubq("status").text.contains(/there +online/) }
        let doctor = try await here.ubq("doctor")
        #expect(doctor.status == 0 && doctor.text == "nothing is wrong\n", "\(doctor.text)")
        #expect(try await there.ubq("leave", "--yes").status == 0)
        let devices = try await here.home.run("kvsd", ["device", "list"])
        #expect(!devices.text.contains("there"), "leaving removes the device: \(devices.text)")
    }

    @Test("each phone gets a code, however many there are", .requires(program: "curl"))
    func phones() async throws {
        let here = try DoorHome()
        try #require(try await here.up() == 0)
        for count in 1...3 {
            let phone = try await here.ubq("phone")
            #expect(phone.status == 0, "\(phone.errors)")
            // The browser signs in as the page has it do.
            let address = try #require(phone.text.firstMatch(of: /https:\/\/[^:]*:(\d+)\/#([\w-]+)/), "\(phone.text)")
            let signedIn = try await here.shell(
                """
                curl -sSfk 'https://127.0.0.1:\(address.1)/v1/session' -H 'Content-Type: application/json' \\
                    -H 'Sec-Fetch-Site: same-origin' -d '{"code": "\(address.2)", "device": "Safari on iPhone"}'
                """)
            #expect(signedIn.status == 0, "\(signedIn.errors)")
            let devices = try await here.shell("kvsd device list")
            #expect(devices.text.matches(of: /Safari on iPhone/).count == count, "\(devices.text)")
        }
    }

    @Test("'up' may be repeated: it starts nothing twice and says what runs")
    func again() async throws {
        let here = try DoorHome()
        let port = try DoorHome.port()
        try #require(try await here.ubq("up", "--yes", "--port", "\(port)").status == 0)
        let again = try await here.ubq("up", "--yes", "--port", "\(port)")
        #expect(again.status == 0 && !again.text.contains("•"), "\(again.text)")
        #expect(again.text.contains("✓ kvsd runs at https://0.0.0.0:\(port)"))
        let devices = try await here.home.run("kvsd", ["device", "list"])
        #expect(devices.text.split(separator: "\n").count == 2, "\(devices.text)")
    }

    @Test(
        "'down' undoes it: nothing runs, every byte of other programs' files is as it was, and the data is back later")
    func undone() async throws {
        let here = try DoorHome()
        try here.home.file(
            ".claude/settings.json", "{\n  \"statusLine\": {\"type\": \"command\", \"command\": \"date\"} }\n")
        try here.home.directory(".claude/projects")
        let before = try here.otherFiles()
        let port = try DoorHome.port()
        try #require(try await here.ubq("up", "--yes", "--port", "\(port)").status == 0)
        #expect(try await here.home.kvs("set", "greeting", "hello").status == 0)
        let captured = try here.otherFiles()[".claude/settings.json"]
        #expect(captured != before[".claude/settings.json"])
        // Those of Codex are in a file that was not there.
        #expect(try await here.home.run("usage-view", ["gate", "install", "--yes"]).status == 0)
        #expect(try here.otherFiles()[".claude/settings.json"] != captured)
        let down = try await here.ubq("down", "--yes")
        #expect(down.status == 0, "\(down.errors)")
        #expect(try here.otherFiles() == before)
        #expect(try await here.ubq("down", "--yes").text == "there is nothing to undo\n")
        #expect(try await here.home.run("kvsd", ["status"]).status == 69)
        try #require(try await here.ubq("up", "--yes", "--port", "\(port)").status == 0)
        #expect(try await here.home.kvs("get", "greeting").text == "hello")
    }

    @Test("killed after any of its steps, it goes on where it was", arguments: 0..<3)
    func killed(after steps: Int) async throws {
        let here = try DoorHome()
        let port = try DoorHome.port()
        let arguments = ["up", "--yes", "--no-codes", "--port", "\(port)"]
        let first = try RunningProgram(here.home, "ubq", arguments)
        var done = -1
        for await line in first.output {
            if line.isEmpty || line.hasPrefix("✓") { done += 1 }
            if done == steps { break }
        }
        first.send(SIGKILL)
        _ = await first.status()
        // A program of its step may still be at work.
        try await wait {
            let second = try await here.home.run("ubq", arguments)
            return second.status == 0
        }
        #expect(try await here.ubq("doctor").text == "nothing is wrong\n")
        let devices = try await here.home.run("kvsd", ["device", "list"])
        #expect(devices.text.split(separator: "\n").count == 2, "\(devices.text)")
    }

    @Test("nothing is done without an answer, and nothing with --dry-run")
    func unanswered() async throws {
        let here = try DoorHome()
        let before = try here.otherFiles()
        let asked = try await here.ubq("up")
        #expect(asked.status == 64 && asked.errors.contains("add --yes"), "\(asked.errors)")
        let shown = try await here.ubq("up", "--dry-run")
        #expect(shown.status == 0 && shown.text.contains("kvsd serve --listen 0.0.0.0"), "\(shown.text)")
        #expect(try here.otherFiles() == before)
        #expect(try await here.home.run("kvsd", ["status"]).status == 69)
    }

    @Test("'join' looks at the line before it shows what it will do, and repeats what can be repeated")
    func lines() async throws {
        let (here, there) = (try DoorHome(), try DoorHome(percent: nil))
        for text in [["hello"], [""], ["https://192.0.2.7:8722/#AwEkN_Im67nNBlTWri3v1kxSrKvmPA"]] {
            let refused = try await there.home.run("ubq", ["join", "--yes"] + text)
            #expect(refused.status == 64 && refused.output.isEmpty, "\(refused.text) \(refused.errors)")
            #expect(refused.errors.contains("the line that ubq up prints"), "\(refused.errors)")
        }
        let up = try await here.ubq("up", "--yes", "--port", "\(DoorHome.port())")
        let line = DoorHome.local(try DoorHome.line(in: up.text))
        let port = try DoorHome.port()
        let elsewhere = line.replacing(/127\.0\.0\.1:\d+/, with: "127.0.0.1:\(port)")
        let unreachable = try await there.ubq("join", "--yes", elsewhere)
        #expect(unreachable.status == 69 && unreachable.errors.contains("with the same line"), "\(unreachable.errors)")
        let joined = try await there.home.run("ubq", ["join", "--yes", "kvs", "join", line])
        #expect(joined.status == 0, "\(joined.errors)")
        let again = try await there.ubq("join", "--yes", line)
        #expect(again.status == 0, "as after an interruption: \(again.errors)")
        let used = try await DoorHome(percent: nil).ubq("join", "--yes", line)
        #expect(used.status == 77 && used.errors.contains("ubq join LINE, with a new line"), "\(used.errors)")
    }

    @Test("a machine that has joined another is not made a home; a daemon on loopback alone is named")
    func obstacles() async throws {
        let (server, here) = (try TemporaryHome(), try DoorHome())
        defer { server.remove() }
        let daemon = try await PairedDaemon(server)
        try #require(try await here.home.kvs("join", daemon.pair()).status == 0)
        let joined = try await here.ubq("up", "--yes")
        #expect(joined.status == 78 && joined.errors.contains("ubq leave"), "\(joined.errors)")
        await daemon.stop()
        let other = try DoorHome()
        let local = try await PairedDaemon(other.home)
        let refused = try await other.ubq("up", "--yes")
        #expect(refused.status == 78 && refused.errors.contains("other machines cannot reach"), "\(refused.errors)")
        await local.stop()
    }

    @Test("a home that cannot be written is named by its path, and nothing is left running")
    func readOnly() async throws {
        let here = try DoorHome(variables: [
            "UBIQUITY_DATA_DIR": "/proc/nothing", "UBIQUITY_STATE_DIR": "/proc/nothing",
        ])
        let up = try await here.ubq("up", "--yes", "--port", "\(DoorHome.port())")
        #expect(up.status != 0 && up.errors.contains("/proc/nothing"), "\(up.errors)")
        #expect(try await here.home.run("kvsd", ["status"]).status == 69)
    }

    @Test("the other programs are reached by their short names, with their arguments and statuses")
    func others() async throws {
        let here = try DoorHome()
        #expect(try await here.ubq("push", "--print").text.contains("usedPercent"))
        #expect(try await here.ubq("kvs", "get", "nothing").status == 1)
        for name in ["view", "daemon", "clip", "link"] {
            #expect(try await here.ubq(name, "--version").text == (try await here.ubq("--version").text), "\(name)")
        }
        #expect(try await here.ubq("nothing").status == 64)
    }

    @Test("the first time it says what was read and what to do next; then it shows the bars alone")
    func first() async throws {
        let here = try DoorHome()
        let first = try await here.ubq()
        #expect(first.status == 0 && first.text.contains("36 % used"), "\(first.text)")
        #expect(first.errors.contains("Codex") && first.errors.contains("ubq up"), "\(first.errors)")
        let second = try await here.ubq()
        #expect(second.text.contains("36 % used") && !second.errors.contains("ubq up"), "\(second.errors)")
    }

    @Test(
        "what was killed is found and started again as it was by 'doctor --fix'; what is left in a report has no names")
    func repaired() async throws {
        let here = try DoorHome()
        let port = try DoorHome.port()
        try #require(try await here.ubq("up", "--yes", "--no-codes", "--port", "\(port)").status == 0)
        for (program, sentence) in [
            ("kvsd", "kvsd does not run"), ("usage-push", "nothing pushes the limits of Codex"),
        ] {
            try await here.kill(program)
            #expect(try await here.ubq("doctor").text.contains(sentence))
            let fixed = try await here.ubq("doctor", "--fix")
            #expect(
                fixed.status == 0 && fixed.text.contains("nothing is wrong"),
                "\(program): \(fixed.text) \(fixed.errors)")
        }
        #expect(try await here.home.run("kvsd", ["status"]).text.contains(":\(port)"))
        try here.home.file(".claude/projects", "not a directory")
        let report = here.home.path + "/report"
        let wrong = try await here.ubq("doctor", "--bundle", report)
        #expect(wrong.status == 1 && wrong.text.contains(".claude/projects"), "\(wrong.text)")
        let text = try String(contentsOfFile: report, encoding: .utf8)
        #expect(text.contains("unreadable-files") && !text.contains(here.home.path), "\(text)")
    }

    @Test(
        "once the daemon was killed, each program at the home names 'ubq up', and both machines list all as it did last"
    )
    func killedDaemon() async throws {
        let (here, there) = (try DoorHome(), try DoorHome(percent: 71))
        let up = try await here.ubq("up", "--yes", "--port", "\(DoorHome.port())")
        #expect(up.text.contains("On a phone, open the address"), "no terminal shows a code: \(up.text)")
        let line = DoorHome.local(try DoorHome.line(in: up.text))
        try #require(try await there.ubq("join", "--yes", "--name", "there", line).status == 0)
        try await wait { try await here.ubq("status").text.contains(/there +online/) }
        try await here.kill("kvsd")
        for command in ["ubq status", "ubq doctor", "ubq phone", "kvsd pair", "kvs pair", "kvsd status"] {
            let outcome = try await here.shell(command)
            #expect((outcome.text + outcome.errors).contains("ubq up"), "\(command): \(outcome.text) \(outcome.errors)")
        }
        for machine in [here, there] {
            let status = try await machine.ubq("status")
            #expect(status.status == 0 && status.text.contains("as it listed them"), "\(status.text)")
            #expect(status.text.contains("\nthere "), "\(status.text)")
        }
        #expect(try await here.ubq("status").text.contains(/daemon +does not run: ubq up/))
        #expect(try await there.ubq("status").text.contains(/daemon +none on this machine/))
        let alone = try await DoorHome().ubq("phone")
        #expect(alone.status == 78 && alone.errors.contains("ubq join LINE"), "\(alone.errors)")
    }

    @Test("a machine that the daemon has removed is told so, with the way back; joining again makes one device")
    func removed() async throws {
        let (here, there) = (try DoorHome(), try DoorHome(percent: 71))
        try #require(try await here.ubq("up", "--yes", "--port", "\(DoorHome.port())").status == 0)
        func join() async throws {
            let up = try await here.ubq("up", "--yes")
            let line = DoorHome.local(try DoorHome.line(in: up.text))
            let joined = try await there.ubq("join", "--yes", "--name", "there", line)
            try #require(joined.status == 0, "\(joined.errors)")
        }
        try await join()
        #expect(try await here.home.run("kvsd", ["device", "remove", "there"]).status == 0)
        let doctor = try await there.ubq("doctor")
        #expect(doctor.status == 1 && doctor.text.contains("removed from the account"), "\(doctor.text)")
        // The same words everywhere.
        for command in ["ubq doctor", "ubq status", "kvs status", "kvs sync", "kvs device list", "usage-push", "ubq"] {
            let outcome = try await there.shell(command)
            let text = (outcome.text + outcome.errors).split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(text.contains("ubq join LINE, with a new line of ubq up (or kvsd pair)"), "\(command): \(text)")
            #expect(!text.contains("kvs join") && !text.contains("kvs leave"), "\(command): \(text)")
        }
        #expect(try await there.shell("usage-view status").text.hasPrefix("removed: ubq join | "))
        try await join()
        try await join()
        let devices = try await here.home.run("kvsd", ["device", "list"])
        #expect(devices.text.split(separator: "\n").filter { $0.contains("there") }.count == 1, "\(devices.text)")
        #expect(try await there.ubq("doctor").status == 0)
    }

    @Test("of two machines that share a home directory, the second is told where the daemon runs")
    func shared() async throws {
        let here = try DoorHome()
        let file = try here.home.file(".local/state/ubiquity/kvsd.running", "1 other-machine\nserve\n")
        let holder = try RunningProgram(here.home, "/usr/bin/flock", [file, "sh", "-c", "echo held; sleep 600"])
        #expect(await holder.output.first { $0 == "held" } != nil)
        let up = try await here.ubq("up", "--yes")
        #expect(up.status == 78 && up.errors.contains("kvsd runs on other-machine"), "\(up.errors)")
    }

    @Test(
        "no program has an asynchronous entry point, whose symbol all of them would share in one file",
        arguments: ["ubq", "kvs", "kvsd", "usage-push", "usage-view", "clip", "link"])
    func entryPoint(of program: String) throws {
        let file = try #require(TemporaryHome.program(program))
        let symbols = try Data(contentsOf: file, options: .mappedIfSafe)
        #expect(symbols.firstRange(of: Data("async_Main".utf8)) == nil)
        #expect(symbols.firstRange(of: Data("_main".utf8)) != nil, "it has its symbols")
    }

    @Test("two that set the machine up at once take turns, and those who only look keep neither from it")
    func together() async throws {
        let here = try DoorHome()
        let port = try DoorHome.port()
        async let looks: [Int32] = withThrowingTaskGroup(of: Int32.self) { group in
            for _ in 0..<4 { group.addTask { try await here.ubq("status").status } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        async let first = here.ubq("up", "--yes", "--no-codes", "--port", "\(port)")
        async let second = here.ubq("up", "--yes", "--no-codes", "--port", "\(port)")
        let outcomes = try await [first, second]
        #expect(outcomes.allSatisfy { $0.status == 0 }, "\(outcomes.map(\.errors))")
        #expect(try await looks.allSatisfy { $0 == 0 })
        #expect(try await here.ubq("doctor").text == "nothing is wrong\n")
        let devices = try await here.home.run("kvsd", ["device", "list"])
        #expect(devices.text.split(separator: "\n").count == 2, "\(devices.text)")
    }

    @Test("a port that others could not find again is refused, and another one than that of a daemon that runs")
    func ports() async throws {
        let here = try DoorHome()
        for port in ["0", "65536", "port"] {
            #expect(try await here.ubq("up", "--yes", "--port", port).status == 64, "\(port)")
        }
        let port = try DoorHome.port()
        try #require(try await here.ubq("up", "--yes", "--no-codes", "--port", "\(port)").status == 0)
        let other = try await here.ubq("up", "--yes", "--port", "\(port == 65_535 ? 65_534 : port + 1)")
        #expect(other.status == 78 && other.errors.contains("ubq down first"), "\(other.errors)")
    }

    @Test("a daemon that cannot start is named with what it said, at once, and so is a push that fails")
    func unstartable() async throws {
        let (here, other) = (try DoorHome(), try DoorHome())
        let port = try DoorHome.port()
        try #require(try await here.ubq("up", "--yes", "--no-codes", "--port", "\(port)").status == 0)
        let taken = try await other.ubq("up", "--yes", "--no-codes", "--port", "\(port)")
        #expect(taken.status == 69 && taken.errors.contains("in use"), "\(taken.errors)")
        // Its identity cannot be written, as on a full disk.
        try other.home.directory(".local/share/ubiquity/device-id")
        let failed = try await other.ubq("up", "--yes", "--no-codes", "--port", "\(DoorHome.port())")
        #expect(failed.status != 0 && failed.errors.contains("device-id"), "\(failed.errors)")
        #expect(!failed.text.contains("✓ Push"))
        let bars = try await other.ubq()
        #expect(bars.status != 0 && !bars.text.isEmpty, "what is there is shown: \(bars.errors)")
    }
}
