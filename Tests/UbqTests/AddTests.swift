import Foundation
import StoreTestSupport
import TestSupport
import Testing

@testable import ubq

@Suite(
    "Machines that are added by SSH", .timeLimit(.minutes(10)),
    .enabled(if: SSHMachine.isPossible, "sshd is not on this machine"))
struct AddTests {
    @Test("'add' copies the programs, joins and shows the first numbers; '--remove' leaves no trace here or there")
    func addAndRemove() async throws {
        let here = try DoorHome(percent: 36)
        let box = try await SSHMachine(knownTo: here)
        let before = try box.home.otherFiles()
        let refused = try await here.ubq("add", "box", "--yes")
        #expect(refused.status == 78 && refused.errors.contains("ubq up"), "\(refused.errors)")
        try #require(try await here.ubq("up", "--yes", "--no-codes", "--port", "\(DoorHome.port())").status == 0)

        let shown = try await here.ubq("add", "box", "--dry-run")
        #expect(shown.status == 0 && shown.text.contains("Copy the programs"), "\(shown.text) \(shown.errors)")
        #expect(try box.home.otherFiles() == before)

        let added = try await here.ubq("add", "box", "--yes")
        try #require(added.status == 0, "\(added.errors) \(added.text)")
        #expect(added.text.contains(/box: first numbers of .*: Codex/), "\(added.text)")
        #expect(try await here.ubq().text.contains("71 % used"))
        let again = try await here.ubq("add", "box", "--yes")
        #expect(again.status == 0 && !again.text.contains("Copy the programs"), "\(again.errors) \(again.text)")
        let devices = try await here.home.run("kvsd", ["device", "list"])
        #expect(devices.text.split(separator: "\n").count == 3, "the machines, each once: \(devices.text)")

        let removed = try await here.ubq("add", "box", "--remove", "--yes")
        #expect(removed.status == 0, "\(removed.errors) \(removed.text)")
        #expect(try box.home.otherFiles() == before)
        #expect(!FileManager.default.fileExists(atPath: box.home.home.path + "/.config/ubiquity"))
        let left = try await here.home.run("kvsd", ["device", "list"])
        #expect(left.text.split(separator: "\n").count == 2, "\(left.text)")
    }

    @Test(
        "services there run without a login, or it is said what is missing; '--remove' leaves it as it was",
        arguments: [(false, true), (true, true), (false, false)])
    func lingering(before: Bool, isAllowed: Bool) async throws {
        let here = try DoorHome(percent: nil)
        let box = try await SSHMachine(knownTo: here)
        try box.home.manageServices(mayLinger: isAllowed)
        try box.home.install("kvsd")
        if before { try box.home.home.file("programs/services/lingers", "") }
        let files = Set(try FileManager.default.subpathsOfDirectory(atPath: box.home.home.path))
        try #require(try await here.ubq("up", "--yes", "--no-codes", "--port", "\(DoorHome.port())").status == 0)
        func add() async throws {
            let added = try await here.ubq("add", "box", "--yes")
            try #require(added.status == 0, "\(added.errors) \(added.text)")
            #expect(added.text.contains(/first numbers of .*: Codex/), "\(added.text)")
            #expect(added.text.contains("there: sudo loginctl enable-linger") == !isAllowed, "\(added.text)")
            #expect(box.home.isServing("lingers") == isAllowed)
        }
        try await add()
        let path = box.home.home.path + "/.config/systemd/user/usage-push.service"
        let unit = try String(contentsOfFile: path, encoding: .utf8)
        let start = try #require(unit.firstMatch(of: /ExecStart=(.*)/), "\(unit)").1.split(separator: " ")
        #expect(start.first == "\(box.home.home.path)/.local/bin/usage-push", "\(unit)")
        let service = try RunningProgram(box.home.home, "usage-push", start.dropFirst().map(String.init))
        try await add()
        service.send(SIGTERM)
        _ = await service.status()
        let doctor = try await box.home.shell("PATH=$HOME/.local/bin:$PATH; ubq doctor")
        #expect(!doctor.text.contains("lacks a variable"), "\(doctor.text)")
        #expect(doctor.text.contains("end with the last login") == !isAllowed, "\(doctor.text)")
        let removed = try await here.ubq("add", "box", "--remove", "--yes")
        #expect(removed.status == 0, "\(removed.errors) \(removed.text)")
        #expect(box.home.isServing("lingers") == before)
        let after = try FileManager.default.subpathsOfDirectory(atPath: box.home.home.path)
        let added = after.filter { !files.contains($0) && !".config .local".contains($0.prefix { $0 != "/" }) }
        #expect(added == [])
        #expect(!after.contains { $0.hasPrefix(".config/") }, "\(after)")
    }

    @Test(
        "of a machine without numbers it is said at once why there are none",
        arguments: [
            (String?.none, "no AI coding tool was found there"), (".codex", "Codex has written none"),
        ])
    func withoutNumbers(directory: String?, reason: String) async throws {
        let here = try DoorHome()
        let box = try await SSHMachine(percent: nil, knownTo: here)
        for program in ["ubq", "kvs", "usage-push", "usage-view"] { try box.home.install(program) }
        if let directory { try box.home.home.directory(directory) }
        try #require(try await here.ubq("up", "--yes", "--no-codes", "--port", "\(DoorHome.port())").status == 0)
        let added = try await here.ubq("add", "box", "--yes")
        #expect(added.status == 0, "\(added.errors)")
        #expect(added.text.contains(/no numbers of .* yet:/) && added.text.contains(reason), "\(added.text)")
        // Tokens are numbers, too.
        try box.home.home.file(
            ".claude/projects/p/s.jsonl",
            #"{"type":"assistant","timestamp":"\#(Date().formatted(.iso8601))","sessionId":"s","requestId":"r","#
                + #""message":{"id":"m","model":"claude-sonnet-5","usage":{"output_tokens":1000}}}"# + "\n")
        let again = try await here.ubq("add", "box", "--yes")
        #expect(again.text.contains(/first numbers of .*: Claude/), "\(again.errors) \(again.text)")
    }

    @Test("two that add a machine at once both do, and it is one device")
    func together() async throws {
        let here = try DoorHome()
        let box = try await SSHMachine(knownTo: here)
        try #require(try await here.ubq("up", "--yes", "--no-codes", "--port", "\(DoorHome.port())").status == 0)
        async let first = here.ubq("add", "box", "--yes")
        async let second = here.ubq("add", "box", "--yes")
        for outcome in try await [first, second] {
            #expect(outcome.status == 0 && outcome.text.contains("box: done in"), "\(outcome.errors) \(outcome.text)")
        }
        let devices = try await here.home.run("kvsd", ["device", "list"])
        #expect(devices.text.split(separator: "\n").count == 3, "\(devices.text)")
        #expect(try await here.ubq("add", "box", "--remove", "--yes").status == 0)
        #expect(try box.home.otherFiles().keys.allSatisfy { !$0.hasPrefix(".local/bin") && $0 != ".ubq-add" })
    }

    @Test(
        "why a machine cannot be added is said in its own words, with the address only where it does not lead here",
        arguments: [
            ("kvs: cannot join https://h:1: cannot connect to h:1: connection refused", 69, true),
            ("kvs: cannot join https://h:1: the daemon answered 507 (disk-full): no space left", 69, false),
            ("usage-push: cannot write /f: no space left on device", 73, false),
        ])
    func reasons(error: String, status: Int, isUnreached: Bool) async throws {
        let here = try DoorHome(percent: nil)
        let box = try await SSHMachine(knownTo: here)
        try #require(try await here.ubq("up", "--yes", "--no-codes", "--port", "\(DoorHome.port())").status == 0)
        let version = try await here.ubq("--version").text
        try box.home.program(
            "ubq",
            """
            case "$1" in
            --version) echo \(version.trimmingCharacters(in: .newlines)) ;;
            join) printf '%s\\n' 'ubq: \(error)' 'To go on from here: ubq join LINE' >&2; exit \(status) ;;
            esac
            """)
        let added = try await here.ubq("add", "box", "--yes")
        #expect(added.status == 1 && added.errors.contains("ubq: box: \(error)"), "\(added.errors)")
        #expect(added.errors.contains("; box must reach the daemon at https://") == isUnreached, "\(added.errors)")
        #expect(!added.errors.contains("To go on") && !added.errors.contains("0.0.0.0"), "\(added.errors)")
    }

    @Test("a machine that loses power again and again is added at last, once, and '--remove' leaves no trace there")
    func powerLosses() async throws {
        let here = try DoorHome()
        let box = try await SSHMachine(knownTo: here)
        let before = try box.home.otherFiles()
        try #require(try await here.ubq("up", "--yes", "--no-codes", "--port", "\(DoorHome.port())").status == 0)
        /// Begins, until a file begins with `name` there or no longer does.
        func interrupt(_ arguments: String..., once name: String, exists: Bool = true) async throws {
            let first = try RunningProgram(here.home, "ubq", ["add", "box", "--yes"] + arguments)
            try await wait {
                let files = try #require(FileManager.default.enumerator(atPath: box.home.home.path))
                return files.contains { ($0 as? String)?.hasPrefix(name) == true } == exists
            }
            try box.losePower()
            _ = await first.status()
        }
        let package = ".local/lib/ubiquity"
        try await interrupt(once: ".ubq-add")
        #expect(try await here.ubq("add", "box", "--remove", "--yes").status == 0)
        #expect(try box.home.otherFiles() == before)
        try await interrupt(once: package + ".new.")
        try await interrupt(once: package + "/")
        try await interrupt(once: ".local/bin/ubq")
        try await interrupt(once: ".local/share/ubiquity/")
        try await interrupt(once: ".local/state/ubiquity/usage-push.running")
        let added = try await here.ubq("add", "box", "--yes")
        try #require(added.status == 0, "\(added.errors) \(added.text)")
        #expect(added.text.contains(/box: first numbers of .*: Codex/), "\(added.text)")
        #expect(FileManager.default.fileExists(atPath: box.home.home.path + "/.local/bin/usage-push"))
        let devices = try await here.home.run("kvsd", ["device", "list"])
        #expect(devices.text.split(separator: "\n").count == 3, "the machines, each once: \(devices.text)")

        try await interrupt("--remove", once: ".ubq-add")
        try await interrupt("--remove", once: package + "/", exists: false)
        let removed = try await here.ubq("add", "box", "--remove", "--yes")
        #expect(removed.status == 0 || removed.errors.contains("nothing is installed"), "\(removed.errors)")
        #expect(try box.home.otherFiles() == before)
        let left = try await here.home.run("kvsd", ["device", "list"])
        #expect(left.text.split(separator: "\n").count == 2, "\(left.text)")
    }

    @Test("a daemon that is killed while a machine is added is said not to run; then both are repeated")
    func daemonKilled() async throws {
        let here = try DoorHome()
        let box = try await SSHMachine(knownTo: here)
        let up = ["up", "--yes", "--no-codes", "--port", "\(try DoorHome.port())"]
        try #require(try await here.home.run("ubq", up).status == 0)
        let first = try RunningProgram(here.home, "ubq", ["add", "box", "--yes"])
        try await wait { FileManager.default.fileExists(atPath: box.home.home.path + "/.ubq-add") }
        try await here.kill("kvsd")
        var errors: [String] = []
        for await line in first.errors { errors.append(line) }
        #expect(await first.status() == 1)
        #expect(errors.contains { $0.hasPrefix("ubq: box: no kvsd is running") }, "\(errors)")
        #expect(try await here.home.run("ubq", up).status == 0)
        #expect(try await here.ubq("add", "box", "--yes").status == 0)
        let devices = try await here.home.run("kvsd", ["device", "list"])
        #expect(devices.text.split(separator: "\n").count == 3, "\(devices.text)")
    }

    @Test("a host that cannot be reached is named with ssh's reason, and the others are added")
    func unreachable() async throws {
        let here = try DoorHome()
        let box = try await SSHMachine(percent: nil, knownTo: here)
        try #require(try await here.ubq("up", "--yes", "--no-codes", "--port", "\(DoorHome.port())").status == 0)
        let added = try await here.ubq("add", "nowhere.invalid", "box", "--yes", "--view-only")
        #expect(added.status == 1 && added.errors.contains("nowhere.invalid"), "\(added.errors)")
        #expect(added.text.contains("box: done in"), "\(added.text) \(added.errors)")
        #expect(try await box.home.home.run("usage-view", []).text.contains("36 % used"))
    }

    @Test(
        "'usage-view --ssh' shows a machine that has not joined, leaves nothing there, and its last numbers when it is away"
    )
    func viewed() async throws {
        let here = try DoorHome(percent: nil)
        let box = try await SSHMachine(knownTo: here)
        let missing = try await here.home.run("usage-view", ["--ssh", "box"])
        #expect(missing.status == 69 && missing.errors.contains("ubq add box"), "\(missing.errors)")
        let pusher = try #require(TemporaryHome.program("usage-push")?.path)
        try box.home.program("usage-push", "exec '\(pusher)' \"$@\"")
        let before = try box.home.otherFiles()
        let shown = try await here.home.run("usage-view", ["--ssh", "box"])
        #expect(shown.status == 0 && shown.text.contains("71 % used"), "\(shown.text) \(shown.errors)")
        #expect(try box.home.otherFiles() == before)
        await box.stop()
        let away = try await here.home.run("usage-view", ["--ssh", "box"])
        #expect(away.status == 0 && away.text.contains("71 % used"), "\(away.text)")
        #expect(away.errors.contains("box: ") && away.errors.contains("its last numbers are shown"), "\(away.errors)")
    }
}

@Suite("Programs that are copied to other machines")
struct LocalPackageTests {
    @Test("programs that are links to one file arrive as links to it, whatever their directory is called")
    func links() async throws {
        let (here, there) = (try TemporaryHome(), try TemporaryHome())
        defer { for home in [here, there] { home.remove() } }
        let file = try here.file("a release/ubq", "#!/bin/sh\necho 0.1.0\n")
        try #require(chmod(file, 0o755) == 0)
        let directory = here.path + "/a release"
        for name in ["kvs", "usage-push", "ubiquity-clip"] {
            try FileManager.default.createSymbolicLink(atPath: directory + "/" + name, withDestinationPath: "ubq")
        }
        let package = LocalPackage(directory: directory)
        try there.file("install", package.script)
        let command = [package.archiver.program] + package.archiver.arguments
        let outcome = try await there.shell(
            """
            \(command.map { "'\($0)'" }.joined(separator: " ")) | sh "$HOME/install"
            for name in ubq kvs usage-push ubiquity-clip; do "$HOME/.local/bin/$name"; done
            """)
        #expect(outcome.status == 0 && outcome.text == String(repeating: "0.1.0\n", count: 4), "\(outcome.errors)")
        let link = there.path + "/.local/lib/ubiquity/bin/kvs"
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "ubq")
    }

    @Test("several that arrive at once wait for each other, and each is whole")
    func together() async throws {
        let (here, there) = (try TemporaryHome(), try TemporaryHome())
        defer { for home in [here, there] { home.remove() } }
        for name in ["ubq", "kvs", "usage-push", "usage-view"] {
            let file = try here.file(
                "bin/" + name, "#!/bin/sh\necho 0.1.0\n" + String(repeating: "#", count: 1_000_000))
            try #require(chmod(file, 0o755) == 0)
        }
        let package = LocalPackage(directory: here.path + "/bin")
        try there.file("install", package.script)
        let command = ([package.archiver.program] + package.archiver.arguments).map { "'\($0)'" }
        let outcome = try await there.shell(
            """
            for turn in 1 2 3; do
                processes=
                for number in 1 2 3 4; do
                    \(command.joined(separator: " ")) | { sleep 0.0$number; exec sh "$HOME/install"; } &
                    processes="$processes $!"
                done
                for process in $processes; do wait $process || echo failed; done
                "$HOME/.local/bin/usage-view"
            done
            ls "$HOME/.local/lib"
            """)
        #expect(outcome.text == String(repeating: "0.1.0\n", count: 3) + "ubiquity\n", "\(outcome.text)")
        #expect(outcome.errors == "", "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: there.path + "/.ubq-add"))
    }
}
