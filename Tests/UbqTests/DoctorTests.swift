import Foundation
import StoreTestSupport
import TestSupport
import Testing

/// Each fault is made with the real programs, found with the command that mends it, and mended by that.
@Suite("What is wrong, and the command that mends it", .timeLimit(.minutes(5)))
struct DoctorTests {
    @Test("at the home of the data: status line, alerts, certificate and a second device")
    func home() async throws {
        let (here, former) = (try DoorHome(), try DoorHome(percent: nil))
        try here.home.directory(".claude/projects")
        try here.program("warn", "test -e '\(here.home.path)/answers'")
        let warn = here.home.path + "/programs/warn"
        try #require(try await here.shell("usage-push alerts enable command '\(warn)'").status == 0)
        try #require(try await here.up() == 0)
        let line = DoorHome.local(try await here.shell("kvsd pair").text.trimmingCharacters(in: .newlines))
        try #require(try await former.shell("kvs join '\(line)'").status == 0)
        // Then nobody has seen the other device since the daemon started.
        try await here.kill("kvsd")
        try #require(try await here.shell("ubq up --yes --no-codes").status == 0)
        try here.home.file(".claude/settings.json", "{}\n")
        let data = here.home.path + "/.local/share/ubiquity/kvsd"
        let certified = try await here.shell(
            "openssl req -x509 -new -key '\(data)/tls-key.pem' -days 5 -subj /CN=kvsd -out '\(data)/tls-certificate.pem'"
        )
        try #require(certified.status == 0, "\(certified.errors)")
        try here.write(percent: 80)
        try await wait {
            (try? here.home.text(".local/state/ubiquity/alerts.json"))?.contains("\"failure\":\"") == true
        }

        let found = try await here.doctor()
        #expect(
            found.map(\.check) == [
                "uncaptured-status-line", "failing-alerts", "expiring-certificate", "second-device",
            ], "\(found)")
        try here.home.file("answers", "")
        for finding in found { try await here.mend(finding) }
        #expect(try await here.doctor() == [])
    }

    @Test(
        "on a machine that has joined: a damaged replica, a clock, a pusher that was never started, an unreachable daemon",
        .requires(program: "faketime"))
    func joined() async throws {
        let (here, there) = (try DoorHome(), try DoorHome(percent: 71))
        try #require(try await here.up() == 0)
        let line = DoorHome.local(try await here.shell("kvsd pair").text.trimmingCharacters(in: .newlines))
        try #require(try await there.shell("kvs join '\(line)' --name there").status == 0)
        let replica = try #require(
            FileManager.default.enumerator(atPath: there.home.path)?.compactMap { $0 as? String }
                .filter { $0.contains("replicas/default@") && $0.contains("/default/") && $0.hasSuffix(".log") }.max())
        let log = there.home.path + "/" + replica
        var bytes = try #require(FileManager.default.contents(atPath: log))
        bytes[17] ^= 1
        try bytes.write(to: URL(filePath: log))

        let found = try await there.doctor(at: "+2h")
        #expect(found.map(\.check) == ["damaged-replica", "wrong-clock", "stopped-pusher"], "\(found)")
        #expect(found.dropFirst().first?.command == "timedatectl set-ntp true")
        for finding in found where finding.check != "wrong-clock" { try await there.mend(finding) }
        #expect(try await there.doctor() == [], "with the right time")

        try await here.kill("kvsd")
        let unreachable = Found(check: "unreachable-daemon", command: "kvs sync")
        #expect(try await there.doctor() == [unreachable])
        try #require(try await here.shell("ubq up --yes --no-codes").status == 0)
        try await there.mend(unreachable)
    }

    @Test("a daemon that has no connection left answers, and is not called unreachable")
    func limited() async throws {
        let server = try DoorHome(percent: nil, variables: ["KVSD_CONNECTIONS": "1"])
        let there = try DoorHome(percent: nil)
        let daemon = try await PairedDaemon(server.home)
        try #require(try await there.shell("kvs join '\(try await daemon.pair())'").status == 0)
        let other = try RunningProgram(there.home, "kvs", ["watch"])
        _ = await other.errors.first { !$0.isEmpty }
        let found = try await there.doctor()
        #expect(found == [Found(check: "refusing-daemon", command: "kvs sync")])
        other.interrupt()
        _ = await other.status()
        try await there.mend(try #require(found.first))
        await daemon.stop()
    }

    @Test(
        "a full disk is named where it is and where its daemon is used, and nothing is left of it once there is space",
        .requiresMounts)
    func fullDisk() async throws {
        let here = try DoorHome(percent: nil)
        try here.home.directory("full")
        try here.home.directory("there")
        let outcome = try await here.shell(
            #"""
            set -e
            there=$HOME/there HOME=$HOME/full
            mount -t tmpfs -o size=3m tmpfs "$HOME"
            kvsd serve --listen 127.0.0.1:0 --tls --set segment-bytes=65536 >"$there/log" 2>&1 & daemon=$!
            trap 'kill $daemon' EXIT
            until line=$(kvsd pair 2>/dev/null); do kill -0 $daemon; sleep 0.05; done
            HOME=$there kvs join "$line" >/dev/null 2>&1
            cat /dev/zero >"$HOME/big" 2>/dev/null || true
            value=$(head -c 30000 /dev/zero | tr '\0' x)
            for key in a b c d; do
                HOME=$there kvs set $key "$value" --require-sync >/dev/null 2>&1 || break
            done
            ubq doctor --json || true
            echo ==
            HOME=$there ubq doctor --json || true
            echo ==
            rm "$HOME/big"
            until HOME=$there kvs sync >/dev/null 2>&1; do kill -0 $daemon; sleep 0.05; done
            ubq doctor --json || true
            echo ==
            HOME=$there ubq doctor --json
            """#, under: Surroundings.mounts)
        let found = try outcome.text.split(separator: "==\n").map { try Found.all(Data($0.utf8)) }
        try #require(found.count == 4, "\(outcome.text) \(outcome.errors)")
        #expect(found[0].map(\.check) == ["full-disk", "refused-writes"], "\(outcome.text)")
        #expect(found[1].map(\.check) == ["refusing-daemon"], "\(outcome.text)")
        // The whole disk is smaller than what is needed.
        #expect(found[2].map(\.check) == ["full-disk"] && found[3] == [], "\(outcome.text)")
    }

    @Test("a service without a variable of a tool, and services that end with the login")
    func services() async throws {
        let here = try DoorHome()
        let linger = here.home.path + "/lingers"
        try here.program(
            "systemctl",
            "case \"$*\" in *show*usage-push*) echo ActiveState=active;; *show*) echo ActiveState=inactive;; esac")
        try here.program(
            "loginctl",
            "case $1 in enable-linger) touch '\(linger)';; *) test -e '\(linger)' && echo yes || echo no;; esac")
        try #require(try await here.shell("usage-push service install").status == 0)
        let variables = ["CODEX_HOME": here.home.path + "/.codex"]
        let found = try await here.doctor(variables)
        #expect(found.map(\.check) == ["outdated-service", "ends-with-login"], "\(found)")
        for finding in found { try await here.mend(finding, variables) }
        #expect(try await here.doctor(variables) == [])
    }

    @Test(
        "a pusher that runs and pushes nothing is stopped, even if it does not end by itself, and started again",
        .requires(program: "faketime"))
    func silent() async throws {
        let here = try DoorHome()
        try #require(try await here.up(under: Surroundings.clock("-15m")) == 0)
        let former = try here.process("usage-push")
        try #require(kill(former, SIGSTOP) == 0)
        let found = try await here.doctor()
        #expect(found == [Found(check: "silent-pusher", command: "ubq doctor --fix", isFixable: true)])
        try await here.mend(try #require(found.first))
        #expect(try await here.doctor() == [])
        #expect(try here.process("usage-push") != former)
    }

    @Test("a missing program, and older ones: installed here, still running, and on another machine")
    func programs() async throws {
        let (here, there) = (try DoorHome(), try DoorHome(percent: 71))
        for program in ["ubq", "kvs", "usage-push", "link"] { try here.install(program) }
        try await here.installOlder("kvsd")
        // Without the directory in which all were built.
        let missing = try await here.home.run(here.home.path + "/programs/ubq", ["doctor", "--json"])
        #expect(
            try Found.all(missing.output).map(\.check) == Array(repeating: "missing-program", count: 2) + [
                "different-versions"
            ], "\(missing.text) \(missing.errors)")
        try here.install("usage-view")
        try await there.installOlder("usage-push")
        try #require(try await here.up() == 0)
        let line = DoorHome.local(try await here.shell("kvsd pair").text.trimmingCharacters(in: .newlines))
        try #require(try await there.shell("kvs join '\(line)' --name there").status == 0)
        try #require(try await there.shell("usage-push --quiet").status == 0)

        let found = try await here.doctor()
        #expect(found.map(\.check) == ["missing-program"] + Array(repeating: "different-versions", count: 3))
        let again = "install the package again, see docs/packages.md"
        #expect(found.map(\.command) == [again, again, "ubq down && ubq up", "ubq add there"], "\(found)")
        for program in ["clip", "kvsd"] { try here.install(program) }
        try await here.mend(Found(check: "different-versions", command: "ubq down && ubq up"))
        try there.install("usage-push")
        try #require(try await there.shell("usage-push --quiet").status == 0)
        #expect(try await here.doctor() == [])
    }

    @Test("a log and a directory that their owner may not read", .requiresOrdinaryUser)
    func unreadable() async throws {
        let here = try DoorHome()
        let sessions = ".codex/sessions/2026/09/"
        for name in ["18/rollout-b.jsonl", "it's/rollout-c.jsonl"] { try here.home.file(sessions + name, "") }
        for name in ["18/rollout-b.jsonl", "it's"] {
            try #require(chmod("\(here.home.path)/\(sessions)\(name)", 0) == 0)
        }
        let found = try await here.doctor(under: here.ordinaryUser)
        #expect(found.map(\.check) == ["unreadable-files", "unreadable-files"], "\(found)")
        for finding in found { try await here.mend(finding, under: here.ordinaryUser) }
        #expect(try await here.doctor(under: here.ordinaryUser) == [])
    }
}

/// A finding of `ubq doctor --json`.
struct Found: Decodable, Equatable {
    var check: String
    var command: String?
    var isFixable = false

    static func all(_ document: Data) throws -> [Found] {
        struct Document: Decodable { var findings: [Found] }
        return try JSONDecoder().decode(Document.self, from: document).findings
    }
}

extension DoorHome {
    func doctor(
        _ variables: [String: String] = [:], at time: String? = nil, under wrapper: [String] = []
    ) async throws -> [Found] {
        let outcome = try await shell(
            "ubq doctor --json", variables, under: wrapper + (time.map(Surroundings.clock) ?? []))
        let found = try Found.all(outcome.output)
        #expect(outcome.status == (found.isEmpty ? 0 : 1), "\(outcome.errors)")
        return found
    }

    /// Runs the command as a person would who answers yes.
    func mend(_ finding: Found, _ variables: [String: String] = [:], under wrapper: [String] = []) async throws {
        let answered = try #require(finding.command).replacing(/ubq (?:up|down)|usage-push setup/) {
            $0.output + " --yes" + ($0.output == "ubq up" ? " --no-codes" : "")
        }
        let outcome = try await shell(answered, variables, under: wrapper)
        #expect(outcome.status == 0, "\(finding): \(outcome.text) \(outcome.errors)")
    }
}
