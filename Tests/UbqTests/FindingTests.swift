import Commands
import Foundation
import LocalFiles
import KVStoreWire
import StoreTestSupport
import TestSupport
import Testing

@testable import ubq

@Suite("What 'ubq doctor' finds")
struct FindingTests {
    /// A machine on which nothing is wrong.
    private static var healthy: MachineFacts {
        var facts = MachineFacts()
        facts.now = Date(timeIntervalSince1970: 1_800_000_000)
        facts.hostName = "laptop.example"
        facts.freeByteCount = 10_000_000_000
        facts.versions = Dictionary(uniqueKeysWithValues: Sibling.allCases.map { ($0, "0.1.0") })
        facts.state.sources = sources(isError: false)
        facts.state.daemonService = ServiceReport(
            unitFile: "u", isInstalled: true, isActive: true, isManaged: true, state: "active", messages: [])
        facts.state.daemon = DaemonReport(
            version: "0.1.0", url: "https://0.0.0.0:8722", processID: 1, data: "/d", incident: nil)
        facts.state.account = AccountReport(
            joined: true, daemon: "unix:/d/kvsd.socket", account: "default", device: "laptop", deviceID: "a",
            connection: "reachable", problem: nil, damagedFiles: [])
        facts.state.pusher = ServiceReport(
            unitFile: "u", isInstalled: true, isActive: true, isManaged: true, state: "active", messages: [],
            lastPush: facts.now - 30)
        facts.state.capture = CaptureReport(isComplete: true, changes: [], statuslineOverride: nil)
        facts.devices = [
            DeviceReport(
                device: "laptop", deviceID: "a", thisDevice: true, page: false, connected: true, presence: "online",
                lastSeen: facts.now, lastPush: facts.now)
        ]
        facts.alerts = AlertsReport(targets: [.init(name: "ntfy")], events: [])
        facts.gate = GateReport(
            hooks: [.init(tool: "codex", areInstalled: true)], issue: nil, brokenFile: nil,
            rules: [.init(number: 1, text: "any limit at 95 %: stop", absence: nil)])
        facts.certificate = CertificateReport(source: "self-signed", expires: facts.now + 300 * 86_400)
        return facts
    }

    private static func sources(isError: Bool, _ detail: String = "no JSON") -> SourcesReport {
        SourcesReport(sources: [
            .init(
                providerID: "codex", providerName: "Codex", isInstalled: true, isPushed: true,
                findings: [.init(title: "sessions", isError: isError, path: "/p", detail: detail)])
        ])
    }

    struct Case: CustomTestStringConvertible, Sendable {
        var check: Check
        var command: String
        var isFixable = false
        var change: @Sendable (inout MachineFacts) -> Void

        var testDescription: String { check.rawValue }
    }

    private static let home = UserDirectories().home
    private static let cases = [
        Case(check: .missingProgram, command: "docs/packages.md") { $0.versions[.clip] = .some(nil) },
        Case(check: .fullDisk, command: "du") { $0.freeByteCount = 1_000 },
        Case(check: .refusedWrites, command: "df -h '/d'") {
            $0.state.daemon?.incident = .init(text: "no space left on device", recovered: nil)
        },
        Case(check: .stoppedDaemon, command: "ubq up", isFixable: true) { $0.state.daemon = nil },
        Case(check: .removedDevice, command: "ubq join LINE") {
            $0.state.account?.daemon = "https://box:8722"
            $0.state.account?.problem = "unauthorized"
        },
        Case(check: .unreachableDaemon, command: "kvs sync") {
            $0.state.account?.daemon = "https://box:8722"
            $0.state.account?.problem = "unreachable"
        },
        Case(check: .refusingDaemon, command: "kvs sync") {
            $0.state.account?.daemon = "https://box:8722"
            $0.state.account?.problem = "refused"
        },
        Case(check: .refusingDaemon, command: "kvs sync") {
            $0.state.account?.daemon = "https://box:8722"
            $0.state.account?.problem = "unreachable"
            $0.state.account?.connection = "the daemon is busy; retry after 5 s"
        },
        Case(check: .damagedReplica, command: "rm x.damaged") { $0.state.account?.damagedFiles = ["x.damaged"] },
        Case(check: .wrongClock, command: "timedatectl set-ntp true") {
            $0.state.account?.daemon = "https://box:8722"
            $0.devices?[0].clockLead = -400
        },
        Case(check: .stoppedPusher, command: "usage-push service install", isFixable: true) {
            $0.state.pusher?.isActive = false
        },
        Case(check: .silentPusher, command: "systemctl --user restart usage-push") {
            $0.state.pusher?.lastPush = $0.now - 3_600
        },
        Case(check: .silentPusher, command: "ubq doctor --fix", isFixable: true) {
            $0.state.pusher?.lastPush = $0.now - 3_600
            $0.state.pusher?.isActive = false
            $0.state.inBackground = [.push]
        },
        Case(check: .stoppedPusher, command: "usage-push service install", isFixable: true) {
            // Nobody has asked for a service, but a tool asks the gate.
            $0.state.account?.joined = false
            $0.state.pusher = ServiceReport(
                unitFile: "u", isInstalled: false, isActive: false, isManaged: true, state: "none", messages: [])
        },
        Case(check: .brokenRules, command: "correct or remove /g/gate.json") {
            $0.gate?.issue = "/g/gate.json: the rules cannot be read; correct or remove the file"
            $0.gate?.brokenFile = "/g/gate.json"
        },
        Case(check: .unmatchedRule, command: "usage-view gate remove 1") {
            $0.gate?.rules[0].absence = "no provider 'cluade'; known: claude"
        },
        Case(check: .unreadableFiles, command: "usage-push sources --provider codex") {
            $0.state.sources = sources(isError: true)
        },
        Case(check: .unreadableFiles, command: "chmod u+rwX \(home)/p") {
            $0.state.sources = sources(isError: true, "permission denied")
            $0.barriers = ["/p": Barrier(path: home + "/p")]
        },
        Case(check: .unreadableFiles, command: "sudo chown -R \"$(id -u)\" \(home)/p") {
            $0.state.sources = sources(isError: true, "permission denied")
            $0.barriers = ["/p": Barrier(path: home + "/p", isForeign: true)]
        },
        Case(check: .unwritableDirectory, command: "sudo chown -R \"$(id -u)\" \(home)/d") {
            $0.unwritable = [Barrier(path: home + "/d", isForeign: true)]
        },
        Case(check: .disabledHooks, command: "remove disableAllHooks from /c/settings.json") {
            $0.gate?.hooks[0].turnedOffIn = "/c/settings.json"
        },
        Case(check: .uncapturedStatusLine, command: "usage-push setup") {
            $0.state.capture = CaptureReport(isComplete: false, changes: [.init(path: "/s")], statuslineOverride: nil)
        },
        Case(check: .uncapturedStatusLine, command: "usage-push setup") {
            $0.state.capture?.statuslineOverride = .init(path: "/project/settings.json")
        },
        Case(check: .outdatedService, command: "usage-push service install", isFixable: true) {
            $0.isServiceOutdated = true
        },
        Case(check: .failingAlerts, command: "usage-push alerts test") {
            $0.alerts?.events = [.init(at: $0.now, outcomes: [.init(target: "ntfy", failure: "refused")])]
        },
        Case(check: .expiringCertificate, command: "restart kvsd") { $0.certificate?.expires = $0.now + 86_400 },
        Case(check: .expiringCertificate, command: "ACME") {
            $0.certificate = CertificateReport(source: "files", expires: $0.now + 86_400)
        },
        Case(check: .secondDevice, command: "kvsd device remove b") {
            $0.devices?.append(
                DeviceReport(
                    device: "laptop-2", deviceID: "b", thisDevice: false, page: false, connected: false,
                    presence: "offline", lastSeen: nil, lastPush: $0.now - 7_200))
        },
        Case(check: .differentVersions, command: "docs/packages.md") { $0.versions[.kvs] = "0.0.9" },
        Case(check: .differentVersions, command: "systemctl --user restart kvsd") {
            $0.state.daemon?.version = "0.0.9"
        },
        Case(check: .differentVersions, command: "ubq add box") {
            $0.view = ViewReport(devices: [.init(name: "box", appVersion: "0.0.9")], providers: [])
        },
        Case(check: .endsWithLogin, command: "loginctl enable-linger") { $0.state.pusher?.endsWithLogin = true },
    ]

    @Test("nothing, where nothing is wrong")
    func nothing() { #expect(Finding.all(Self.healthy) == []) }

    @Test("each thing that can be wrong, alone and with the command that mends it", arguments: cases)
    func one(_ item: Case) {
        var facts = Self.healthy
        item.change(&facts)
        let found = Finding.all(facts)
        #expect(found.map(\.check) == [item.check], "\(found)")
        #expect(found.first?.command?.contains(item.command) == true, "\(found)")
        #expect((found.first?.fix.isEmpty == false) == item.isFixable)
    }

    @Test("every check has a case, and the worst comes first however many there are")
    func order() {
        #expect(Set(Self.cases.map(\.check)) == Set(Check.allCases))
        for first in Self.cases {
            for second in Self.cases {
                var facts = Self.healthy
                first.change(&facts)
                second.change(&facts)
                let places = Finding.all(facts).map { Check.allCases.firstIndex(of: $0.check)! }
                #expect(places == places.sorted())
            }
        }
    }

    @Test("docs/ubq.md lists the checks in their order, with commands that are found and what '--fix' does")
    func documented() throws {
        let text = try String(contentsOf: Repository.root.appending(path: "docs/ubq.md"), encoding: .utf8)
        let section = try #require(
            text.split(separator: "## What the doctor finds").last?.split(separator: "\n## ").first)
        let rows = section.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { row in
            row.replacing("\\|", with: "¦").split(separator: "|").map {
                $0.replacing("¦", with: "|").trimmingCharacters(in: .whitespaces)
            }
        }
        #expect(rows.map(\.[0]) == Check.allCases.map { "`\($0.rawValue)`" })
        for item in Self.cases {
            let row = try #require(rows.first { $0[0] == "`\(item.check.rawValue)`" })
            var facts = Self.healthy
            item.change(&facts)
            let command = try #require(Finding.all(facts).first?.command)
            // What stands for a name or path begins with a capital.
            let listed = row[3].matches(of: /`([^`A-Z]+)[^`]*`/).map { $0.1.trimmingCharacters(in: .whitespaces) }
            let isListed = listed.contains { command.hasPrefix($0) } || row[3].contains(command.prefix { $0 != "," })
            #expect(isListed || row[3].contains("ACME") && command.contains("ACME"), "\(item.check): \(command)")
            #expect(!item.isFixable || row[3].contains("(fixed)"), "\(item.check)")
        }
        for row in rows where row[3].contains("(fixed)") {
            #expect(Self.cases.contains { "`\($0.check.rawValue)`" == row[0] && $0.isFixable }, "\(row[0])")
        }
    }
}

@Suite("What 'ubq leave' and 'ubq down' undo")
struct DownPlanTests {
    private static let states = (0..<16).map { bits in
        ServiceReport(
            unitFile: "u", isInstalled: bits & 1 > 0, isPackaged: bits & 2 > 0, isEnabled: bits & 4 > 0,
            isActive: bits & 8 > 0, state: "", messages: [])
    }

    @Test("a service of the user, and a package's only if the user has it: those of others are never in the way")
    func services() {
        for service in Self.states {
            var state = MachineState()
            (state.pusher, state.daemonService) = (service.ofUser, service.ofUser)
            let isHis = service.isInstalled && (service.isPackaged == false || service.isEnabled! || service.isActive)
            let steps = DownPlan(state, undone: nil, hooks: nil, endsDaemon: true).steps
            #expect(steps.map(\.program) == (isHis ? [.push, .daemon] : []), "\(service)")
            #expect(steps.allSatisfy { $0.arguments == ["service", "remove"] })
        }
    }

    @Test("a unit that leads to the same program by another path is the same, and no other one is")
    func paths() throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        let file = try home.file("lib/bin/ubq", "")
        try home.file("other/usage-push", "")
        try home.directory("bin")
        for link in ["lib/bin/usage-push", "bin/usage-push"] {
            try FileManager.default.createSymbolicLink(atPath: "\(home.path)/\(link)", withDestinationPath: file)
        }
        func unit(_ path: String, _ rest: String = " --watch", variable: String = "A=b") -> String {
            MachineFacts.identified("[Service]\nExecStart=\(home.path)/\(path)\(rest)\nEnvironment=\(variable)\n")
        }
        #expect(unit("bin/usage-push") == unit("lib/bin/usage-push"))
        let others = [
            unit("other/usage-push"), unit("none/usage-push"), unit("bin/usage-push", " --quiet"),
            unit("bin/usage-push", variable: "A=c"), unit("bin/usage-push", " \"--watch\""),
        ]
        #expect(!others.contains(unit("bin/usage-push")) && Set(others).count == others.count)
    }
}

@Suite("The line of 'ubq join'")
struct PastedLineTests {
    private static let line = "ubiquity://192.0.2.7:8722/AwEkN_Im67nNBlTWri3v1kxSrKvmPA/https"

    @Test(
        "is found among the words with which it is copied",
        arguments: ["LINE", " LINE\n", "ubq join LINE", "  ubq join 'LINE'", "kvs join \"LINE\" --name lap", "“LINE”"])
    func found(text: String) throws {
        #expect(try JoinCommand.parsed(text.replacing("LINE", with: Self.line)).text == Self.line)
    }

    @Test(
        "is asked for by the name of what was given instead",
        arguments: [
            ("", "nothing was given"), ("hello", "this is no line"),
            ("https://192.0.2.7:8722/#AwEkN_Im67nNBlTWri3v1kxSrKvmPA", "for a phone"),
            ("https://192.0.2.7:8722", "an address without a code"),
            ("ubiquity://192.0.2.7:8722/AwEkN", "incomplete line"),
        ])
    func refused(text: String, reason: String) {
        let error = #expect(throws: CommandFailure.self) { try JoinCommand.parsed(text) }
        #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
        #expect(error?.description.contains("ubq up") == true)
    }
}
