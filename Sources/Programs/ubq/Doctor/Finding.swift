import Commands
import KVStoreCore
import Essentials
import TerminalText

/// What can be wrong, in the order in which it matters.
enum Check: String, CaseIterable, Encodable, Sendable {
    case missingProgram = "missing-program"
    case fullDisk = "full-disk"
    case unwritableDirectory = "unwritable-directory"
    case refusedWrites = "refused-writes"
    case stoppedDaemon = "stopped-daemon"
    case removedDevice = "removed-device"
    case unreachableDaemon = "unreachable-daemon"
    case refusingDaemon = "refusing-daemon"
    case damagedReplica = "damaged-replica"
    case wrongClock = "wrong-clock"
    case stoppedPusher = "stopped-pusher"
    case silentPusher = "silent-pusher"
    case brokenRules = "broken-rules"
    case disabledHooks = "disabled-hooks"
    case unmatchedRule = "unmatched-rule"
    case unreadableFiles = "unreadable-files"
    case uncapturedStatusLine = "uncaptured-status-line"
    case outdatedService = "outdated-service"
    case failingAlerts = "failing-alerts"
    case expiringCertificate = "expiring-certificate"
    case secondDevice = "second-device"
    case differentVersions = "different-versions"
    case endsWithLogin = "ends-with-login"
}

/// One thing that is wrong, with the command that mends it.
struct Finding: Equatable, Encodable {
    var check: Check
    /// A sentence without a full stop.
    var text: String
    /// As a person types it.
    var command: String?
    /// What `--fix` runs: nothing that loses or changes what is a person's own.
    var fix: [Step] = []

    private enum CodingKeys: CodingKey { case check, text, command, isFixable }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(check, forKey: .check)
        try container.encode(text, forKey: .text)
        try container.encodeIfPresent(command, forKey: .command)
        try container.encode(!fix.isEmpty, forKey: .isFixable)
    }

    /// All that is wrong, the worst first. Pure.
    static func all(_ facts: MachineFacts) -> [Finding] {
        let rules = [
            programs, disk, writing, daemon, account, clock, pusher, gate, sources, capture, service, alerts,
            certificate,
            devices, versions, logins,
        ]
        let order = Dictionary(uniqueKeysWithValues: Check.allCases.enumerated().map { ($1, $0) })
        return rules.flatMap { $0(facts) }.enumerated()
            .sorted { (order[$0.element.check]!, $0.offset) < (order[$1.element.check]!, $1.offset) }.map(\.element)
    }

    private static let neededByteCount = 50_000_000
    private static let clockTolerance = 60.0
    private static let pushTolerance = 600.0
    private static let certificateDays = 14.0

    private static func programs(_ facts: MachineFacts) -> [Finding] {
        Sibling.allCases.compactMap { program in
            guard case .some(.none) = facts.versions[program] else { return nil }
            return Finding(
                check: .missingProgram, text: "\(program.rawValue) cannot be run",
                command: "install the package again, see docs/packages.md")
        }
    }

    private static func disk(_ facts: MachineFacts) -> [Finding] {
        guard let free = facts.freeByteCount, free < neededByteCount else { return [] }
        return [
            Finding(
                check: .fullDisk, text: "the disk of your data has \(free / 1_000_000) MB left",
                command: "du -xh ~ | sort -rh | head")
        ]
    }

    private static func daemon(_ facts: MachineFacts) -> [Finding] {
        let state = facts.state
        guard let daemon = state.daemon else {
            guard state.isHome else { return [] }
            let messages = state.daemonService?.messages.last.map { ": " + $0 } ?? ""
            return [
                Finding(
                    check: .stoppedDaemon, text: "kvsd does not run, and your machines do not sync\(messages)",
                    command: "ubq up", fix: [.startDaemon(state, port: nil)])
            ]
        }
        guard !daemon.acceptsWrites else { return [] }
        return [
            Finding(
                check: .refusedWrites, text: "kvsd refuses writes: \(daemon.incident?.text ?? "")",
                command: "df -h '\(daemon.data)'")
        ]
    }

    private static func account(_ facts: MachineFacts) -> [Finding] {
        guard let account = facts.state.account, account.joined else { return [] }
        var findings = account.damagedFiles.map { file in
            Finding(
                check: .damagedReplica,
                text: "a damaged file of the replica was put aside, and what the daemon has is there again; "
                    + "once nobody needs it, remove \(file)",
                command: "rm " + ShellWord.quoted(file))
        }
        if account.problem == "unauthorized" {
            findings.append(
                Finding(
                    check: .removedDevice,
                    text: "this machine was removed from the account (as \(account.device ?? "a device")), or its "
                        + "token is no longer valid", command: StoreError.rejoining))
        } else if account.isOwn, facts.state.daemon == nil {
            // What does not run here is said by itself.
            return findings
        } else if let objection = account.objection {
            findings.append(
                Finding(
                    check: .refusingDaemon,
                    text:
                        "\(account.daemon ?? "the daemon") answers, and does not do what it is asked for: \(objection)",
                    command: "kvs sync"))
        } else if account.problem != nil {
            findings.append(
                Finding(
                    check: .unreachableDaemon,
                    text: "\(account.daemon ?? "the daemon") cannot be reached: \(account.connection)",
                    command: "kvs sync"))
        }
        return findings
    }

    private static func clock(_ facts: MachineFacts) -> [Finding] {
        // The daemon here has the same one.
        guard facts.state.account?.isOwn != true,
            let lead = facts.devices?.first(where: { $0.thisDevice == true })?.clockLead,
            abs(lead) > clockTolerance
        else { return [] }
        let span = DurationFormatter.countdown(to: facts.now + abs(lead), from: facts.now)
        return [
            Finding(
                check: .wrongClock,
                text: "the clocks of this machine and of the daemon differ by \(span); "
                    + "this one is \(lead > 0 ? "ahead" : "behind")",
                command: "timedatectl set-ntp true")
        ]
    }

    private static func pusher(_ facts: MachineFacts) -> [Finding] {
        let state = facts.state
        guard let pusher = state.pusher, !state.tools.isEmpty else { return [] }
        guard state.isPusherKept else {
            // Who pushes by hand, or only looks, has not asked for a service.
            let isAsked = facts.gate?.tools.isEmpty == false
            guard pusher.isInstalled || state.account?.joined == true || isAsked else { return [] }
            let messages = pusher.isInstalled ? pusher.messages.last.map { ": " + $0 } ?? "" : ""
            let gate = isAsked ? ", and the gate stops no call by old ones" : ""
            return [
                Finding(
                    check: .stoppedPusher,
                    text: "nothing pushes the limits of \(state.tools.listed)\(gate)\(messages)",
                    command: state.pusherStart, fix: [.startPusher(state)])
            ]
        }
        guard let last = pusher.lastPush, facts.now.timeIntervalSince(last) > pushTolerance else { return [] }
        return [
            Finding(
                check: .silentPusher,
                text: "usage-push runs, but its last push was \(DurationFormatter.age(of: last, at: facts.now))",
                command: pusher.isActive ? "systemctl --user restart usage-push" : "ubq doctor --fix",
                fix: pusher.isActive ? [] : [.stopPusher, .pushOnce(state), .startPusher(state)])
        ]
    }

    private static func gate(_ facts: MachineFacts) -> [Finding] {
        guard let gate = facts.gate else { return [] }
        let broken = gate.brokenFile.map { file in
            Finding(
                check: .brokenRules, text: "rules of the gate stop nothing: \(gate.issue ?? "they cannot be used")",
                command: "correct or remove \(ShellWord.quoted(file))")
        }
        let disabled = gate.hooks.filter(\.areInstalled).compactMap { hooks in
            hooks.turnedOffIn.map { file in
                Finding(
                    check: .disabledHooks, text: "\(hooks.tool) calls no hooks, and never asks the gate",
                    command: "remove disableAllHooks from \(ShellWord.quoted(file))")
            }
        }
        return [broken].compactMap { $0 } + disabled
            + gate.rules.compactMap { rule in
                rule.absence.map { absence in
                    Finding(
                        check: .unmatchedRule, text: "the gate's rule '\(rule.text)' matches nothing now: \(absence)",
                        command: "usage-view gate remove \(rule.number)")
                }
            }
    }

    private static func sources(_ facts: MachineFacts) -> [Finding] {
        var findings: [Finding] = []
        var tools: [Barrier: [String]] = [:]
        for source in facts.state.sources?.sources ?? [] {
            for finding in source.findings where finding.isError == true {
                if finding.detail.contains("permission denied"), let barrier = facts.barriers[finding.path] {
                    let known = tools[barrier, default: []]
                    if !known.contains(source.providerName) { tools[barrier] = known + [source.providerName] }
                } else {
                    findings.append(
                        Finding(
                            check: .unreadableFiles, text: "\(source.providerName): \(finding.path): \(finding.detail)",
                            command: "usage-push sources --provider \(source.providerID)"))
                }
            }
        }
        let barred = tools.sorted { $0.key.path < $1.key.path }.map { barrier, tools in
            Finding(
                check: .unreadableFiles, text: "\(tools.listed): \(barrier.path): \(barrier.reason)",
                command: barrier.command)
        }
        return barred + findings
    }

    private static func writing(_ facts: MachineFacts) -> [Finding] {
        facts.unwritable.map { barrier in
            Finding(
                check: .unwritableDirectory, text: "nothing can be saved in \(barrier.path): \(barrier.reason)",
                command: barrier.command)
        }
    }

    private static func capture(_ facts: MachineFacts) -> [Finding] {
        guard let capture = facts.state.capture else { return [] }
        if let override = capture.statuslineOverride {
            return [
                Finding(
                    check: .uncapturedStatusLine,
                    text: "\(override.path) sets another status line, and Claude Code's exact limits are not captured",
                    command: "usage-push setup")
            ]
        }
        guard !capture.isComplete, !capture.changes.isEmpty else { return [] }
        return [
            Finding(
                check: .uncapturedStatusLine,
                text: "Claude Code passes its exact limits only to a status line, and it is not captured",
                command: "usage-push setup")
        ]
    }

    private static func service(_ facts: MachineFacts) -> [Finding] {
        guard facts.isServiceOutdated else { return [] }
        return [
            Finding(
                check: .outdatedService,
                text: "the service of usage-push lacks a variable or path that this login has",
                command: "usage-push service install",
                fix: [
                    Step(
                        text: "Write the service of usage-push again", program: .push,
                        arguments: ["service", "install"])
                ])
        ]
    }

    private static func alerts(_ facts: MachineFacts) -> [Finding] {
        guard let alerts = facts.alerts else { return [] }
        return alerts.targets.compactMap { target in
            let outcomes = alerts.events.flatMap { event in event.outcomes.filter { $0.target == target.name } }
            guard let failure = outcomes.first?.failure else { return nil }
            return Finding(
                check: .failingAlerts, text: "the last alert to \(target.name) was not delivered: \(failure)",
                command: "usage-push alerts test")
        }
    }

    private static func certificate(_ facts: MachineFacts) -> [Finding] {
        guard let certificate = facts.certificate, let expires = certificate.expires else { return [] }
        let days = expires.timeIntervalSince(facts.now) / 86_400
        guard days < certificateDays else { return [] }
        return [
            Finding(
                check: .expiringCertificate,
                text: days < 0
                    ? "the daemon's certificate has expired"
                    : "the daemon's certificate expires in \(Int(days)) days",
                command: certificate.source == "files"
                    ? "renew it with your ACME client, see docs/certificates.md" : facts.state.daemonRestart)
        ]
    }

    private static func devices(_ facts: MachineFacts) -> [Finding] {
        guard let devices = facts.devices, let own = devices.first(where: { $0.thisDevice == true }),
            own.asOf == nil, isNamed(own.device, facts.hostName)
        else { return [] }
        let program = facts.state.daemon == nil ? "kvs" : "kvsd"
        return devices.filter { device in
            device.thisDevice != true && device.page != true && device.connected != true
                && isNamed(device.device, facts.hostName)
                // A daemon that was restarted has seen nobody before.
                && facts.now.timeIntervalSince(device.lastSeen ?? device.lastPush ?? .distantPast) > 3_600
        }.map { device in
            Finding(
                check: .secondDevice,
                text: "\(device.device) is named after this machine, as \(own.device) is, and is not connected",
                command: "\(program) device remove \(device.deviceID)")
        }
    }

    /// Whether it is the host's name, or that with the number of a second device.
    private static func isNamed(_ device: String, _ host: String) -> Bool {
        let host = host.split(separator: ".").first.map(String.init) ?? host
        guard device != host else { return !host.isEmpty }
        let rest = device.hasPrefix(host + "-") ? device.dropFirst(host.count + 1) : ""
        return !host.isEmpty && Int(rest) != nil
    }

    private static func versions(_ facts: MachineFacts) -> [Finding] {
        let own = facts.versions.compactMapValues { $0 }.filter { $0.value != ProgramVersion.text }
        var findings = own.sorted { $0.key.rawValue < $1.key.rawValue }.map { program, version in
            Finding(
                check: .differentVersions,
                text: "\(program.rawValue) is \(version), and ubq is \(ProgramVersion.text)",
                command: "install the package again, see docs/packages.md")
        }
        if let daemon = facts.state.daemon, daemon.version != ProgramVersion.text {
            findings.append(
                Finding(
                    check: .differentVersions,
                    text: "the running kvsd is \(daemon.version), and \(ProgramVersion.text) is installed",
                    command: facts.state.daemonRestart))
        }
        let others = (facts.view?.devices ?? []).filter {
            ($0.appVersion ?? ProgramVersion.text) != ProgramVersion.text
        }
        return findings
            + others.map { device in
                Finding(
                    check: .differentVersions,
                    text:
                        "\(device.name) pushes with \(device.appVersion ?? ""), and this machine has \(ProgramVersion.text)",
                    command: "ubq add \(device.name)")
            }
    }

    private static func logins(_ facts: MachineFacts) -> [Finding] {
        let services = [facts.state.daemonService, facts.state.pusher]
        guard services.contains(where: { $0?.endsWithLogin == true }) else { return [] }
        return [
            Finding(
                check: .endsWithLogin, text: "the services of this user end with the last login",
                command: "loginctl enable-linger")
        ]
    }
}
