import Foundation
import StoreTestSupport
import TestSupport
import Testing

@Suite("Where people run it", .timeLimit(.minutes(5)))
struct SurroundingsTests {
    @Test(
        "an ordinary user sets a machine up, adds another one by SSH, and takes it down", .requiresOrdinaryUser,
        .enabled(if: SSHMachine.isPossible, "sshd is not on this machine"))
    func ordinaryUser() async throws {
        let here = try DoorHome()
        let box = try await SSHMachine(knownTo: here)
        for program in ["ubq", "kvs", "kvsd", "usage-push", "usage-view"] { try box.home.install(program) }
        let outcome = try await here.shell(
            """
            set -e
            ubq up --yes --no-codes --port \(DoorHome.port())
            ubq add box --yes
            ubq view
            ubq doctor
            ubq add box --remove --yes
            ubq down --yes
            """, under: here.ordinaryUser)
        #expect(outcome.status == 0, "\(outcome.text) \(outcome.errors)")
        #expect(outcome.text.contains("71 % used") && outcome.text.contains("nothing is wrong"), "\(outcome.text)")
        let identity = try FileManager.default.attributesOfItem(atPath: here.home.path)[.ownerAccountID] as? Int
        for name in try FileManager.default.subpathsOfDirectory(atPath: here.home.path) {
            let file = try FileManager.default.attributesOfItem(atPath: here.home.path + "/" + name)
            #expect(file[.ownerAccountID] as? Int == identity, "\(name)")
        }
    }

    @Test(
        "on a full or read-only disk nothing is left running, the file is named, and it goes on once it can",
        .requiresMounts)
    func disks() async throws {
        let here = try DoorHome()
        let outcome = try await here.shell(
            #"""
            set -e
            mkdir "$HOME/disk"
            mount -t tmpfs -o size=20m tmpfs "$HOME/disk"
            cp -r "$HOME/.codex" "$HOME/disk"
            HOME=$HOME/disk
            cat /dev/zero >"$HOME/big" 2>/dev/null || true
            ubq up --yes --no-codes 2>&1 >/dev/null && exit 1
            ! kvsd status 2>/dev/null
            rm "$HOME/big"
            mount -o remount,ro "$HOME"
            ubq up --yes --no-codes 2>&1 >/dev/null && exit 1
            ! kvsd status 2>/dev/null
            mount -o remount,rw "$HOME"
            ubq up --yes --no-codes --port "$PORT" >/dev/null 2>&1
            trap 'ubq down --yes >/dev/null 2>&1' EXIT
            ubq
            """#, ["PORT": "\(DoorHome.port())"], under: Surroundings.mounts)
        #expect(outcome.status == 0, "\(outcome.text) \(outcome.errors)")
        let lines = outcome.text.split(separator: "\n").map(String.init)
        let full = lines.first { $0.lowercased().contains("no space left on device") }
        let readOnly = lines.first { $0.lowercased().contains("read-only file system") }
        for line in [full, readOnly] {
            #expect(line?.contains(here.home.path + "/disk/") == true, "\(outcome.text)")
        }
        #expect(outcome.text.contains("36 % used"), "\(outcome.text)")
    }

    @Test(
        "what a program left that was run with sudo is named once, with the command that mends it",
        .requiresOrdinaryUser, .enabled(if: getuid() == 0, "only root can leave files of another user"))
    func foreignFiles() async throws {
        let here = try DoorHome()
        let user = try here.ordinaryUser
        let directory = here.home.path + "/.local"
        try await #require(here.shell("mkdir -p '\(directory)/share'; chmod 700 '\(directory)'").status == 0)
        let outcome = try await here.shell("ubq doctor", under: user)
        let refusals = outcome.text.split(separator: "\n").filter { $0.contains("permission denied") }
        #expect((1...2).contains(refusals.count) && refusals.allSatisfy { $0.contains(directory) }, "\(outcome.text)")
        #expect(outcome.text.contains(#"sudo chown -R "$(id -u)" \#(directory)"#), "\(outcome.text) \(outcome.errors)")
        try await #require(here.shell("chown -R 65534 '\(directory)'").status == 0)
        #expect(!(try await here.shell("ubq doctor", under: user)).text.contains("permission denied"))
    }

    @Test(
        "of two machines with one home directory, the second shows the numbers, and changes nothing of the first's",
        .requiresOtherMachine)
    func sharedHome() async throws {
        let here = try DoorHome()
        try #require(try await here.up() == 0)
        let other = try await here.shell(
            """
            hostname other-machine
            ubq up --yes --no-codes; echo "up: $?"
            ubq down --yes; echo "down: $?"
            ubq view
            """, under: Surroundings.otherMachine)
        #expect(other.text.contains("up: 78") && other.text.contains("down: 78"), "\(other.text) \(other.errors)")
        #expect(other.text.contains("36 % used"), "\(other.text)")
        let first = ProcessInfo.processInfo.hostName
        #expect(other.errors.split(separator: "\n").filter { $0.contains("runs on \(first)") }.count == 2)
        let devices = try await here.shell("kvsd device list")
        #expect(devices.text.split(separator: "\n").count == 2, "\(devices.text) \(devices.errors)")
    }

    @Test("'down' that was killed after its first step goes on where it was")
    func killed() async throws {
        let here = try DoorHome()
        try #require(try await here.up() == 0)
        let first = try RunningProgram(here.home, "ubq", ["down", "--yes"])
        _ = await first.output.first { $0.hasPrefix("✓") }
        first.send(SIGKILL)
        _ = await first.status()
        // A program of its second step may still be at work.
        try await wait { try await here.ubq("down", "--yes").text == "there is nothing to undo\n" }
        #expect(try await here.home.run("kvsd", ["status"]).status == 69)
        #expect(try await here.home.run("kvs", ["status"]).text.contains("no account has been joined"))
    }

    @Test(
        "'leave' ends the service of a package if its user has enabled it, and is not kept by it else", .requiresMounts,
        arguments: [true, false])
    func packagedService(isEnabled: Bool) async throws {
        let (here, there) = (try DoorHome(), try DoorHome(percent: nil))
        try there.manageServices()
        let up = try await here.ubq("up", "--yes", "--port", "\(DoorHome.port())")
        try #require(up.status == 0, "\(up.errors)")
        let outcome = try await there.shell(
            #"""
            set -e
            mount -t tmpfs tmpfs /usr/lib/systemd
            mkdir /usr/lib/systemd/user
            echo '# Written by usage-push service install.' >/usr/lib/systemd/user/usage-push.service
            ubq join --yes --no-bars "$LINE"
            [ -z "$ENABLED" ] || systemctl --user enable --now usage-push.service
            ubq leave --yes
            ubq leave --yes
            """#,
            [
                "LINE": DoorHome.local(try DoorHome.line(in: up.text)), "ENABLED": isEnabled ? "yes" : "",
            ], under: Surroundings.mounts)
        #expect(outcome.status == 0, "\(outcome.text) \(outcome.errors)")
        #expect(outcome.text.contains("disable the package's service") == isEnabled, "\(outcome.text)")
        #expect(outcome.text.hasSuffix("there is nothing to undo\n"), "\(outcome.text)")
        #expect(!there.isServing("usage-push.service"))
    }
}
