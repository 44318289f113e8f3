import ArgumentParser
import Commands
import Essentials
import TerminalText

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show daemon, machines, services, alerts, gate, certificate and versions on one screen.",
        discussion: """
            Each line is also in a command of its own: kvsd status, kvs device list, usage-push service status, \
            usage-push alerts, usage-view gate, kvsd certificate. ubq doctor says what is wrong with them.
            """)

    func run() throws {
        let facts = try MachineFacts.current()
        for line in StatusScreen(facts).lines { try Console.print(line) }
    }
}

/// Pure.
struct StatusScreen {
    let lines: [String]

    init(_ facts: MachineFacts) {
        var table = TextTable(columns: [.init(""), .init("")])
        for (name, text) in Self.rows(facts) { table.append([name, VisibleText.escape(text)]) }
        lines = table.lines() + Self.machines(facts)
    }

    private static func rows(_ facts: MachineFacts) -> [(String, String)] {
        let state = facts.state
        var rows: [(String, String)] = []
        if let daemon = state.daemon {
            let way =
                state.daemonService?.isActive == true
                ? "a service" : state.inBackground.contains(.daemon) ? "in the background" : "started by hand"
            let writes = daemon.acceptsWrites ? "" : ", refuses writes: \(daemon.incident?.text ?? "")"
            rows.append(("daemon", "kvsd \(daemon.version) at \(daemon.url), \(way)\(writes)"))
        } else {
            let reason = state.daemonService.flatMap { $0.isInstalled ? " (\($0.state))" : nil } ?? ""
            rows.append(("daemon", state.isHome ? "does not run\(reason): ubq up" : "none on this machine"))
        }
        if let account = state.account, account.joined {
            let place = account.isOwn ? "the daemon here" : account.daemon ?? "a daemon"
            rows.append(("account", "\(account.device ?? "") on \(place): \(account.connection)"))
        } else {
            rows.append(("account", "none joined: " + AccountReport.joining))
        }
        rows.append(("pusher", pusher(facts)))
        if let capture = state.capture, !capture.isComplete || capture.statuslineOverride != nil {
            rows.append(("capture", "Claude Code's exact limits are not captured: usage-push setup"))
        }
        if let alerts = facts.alerts {
            let last = alerts.events.first.map { ", the last \(DurationFormatter.age(of: $0.at, at: facts.now))" } ?? ""
            rows.append(
                (
                    "alerts",
                    alerts.targets.isEmpty
                        ? "off: usage-push alerts enable desktop" : alerts.targets.map(\.name).listed + last
                ))
        }
        if let gate = facts.gate { rows.append(("gate", text(gate))) }
        if let certificate = facts.certificate {
            let expiry =
                certificate.expires.map { ", valid until " + $0.formatted(.iso8601.year().month().day()) } ?? ""
            rows.append(("certificate", certificate.source + expiry))
        }
        let others = facts.versions.compactMapValues { $0 }.filter { $0.value != ProgramVersion.text }
        let differing = others.map { "\($0.key.rawValue) \($0.value)" }.sorted()
        rows.append(("version", ProgramVersion.text + (differing.isEmpty ? "" : ", but " + differing.listed)))
        return rows
    }

    private static func text(_ gate: GateReport) -> String {
        if let file = gate.brokenFile { return "rules that cannot be used: \(file)" }
        if gate.tools.isEmpty, gate.rules.isEmpty { return "off: usage-view gate install" }
        let rules = gate.rules.count == 1 ? "1 rule" : "\(gate.rules.count) rules"
        let unmatched = gate.rules.filter { $0.absence != nil }.map { "\($0.number)" }
        return (gate.tools.isEmpty ? "no tool asks it (usage-view gate install)" : "asked by \(gate.tools.listed)")
            + ", \(rules)"
            + (unmatched.isEmpty
                ? ""
                : ", " + (unmatched.count == 1 ? "rule \(unmatched[0]) matches" : "rules \(unmatched.listed) match")
                    + " nothing")
    }

    private static func pusher(_ facts: MachineFacts) -> String {
        let state = facts.state
        let last = state.pusher?.lastPush.map { ", last push \(DurationFormatter.age(of: $0, at: facts.now))" } ?? ""
        let tools = state.tools.isEmpty ? "no AI coding tool was found" : state.tools.listed
        if state.pusher?.isActive == true { return "a service\(last): \(tools)" }
        if state.inBackground.contains(.push) { return "in the background\(last): \(tools)" }
        if state.pusher?.isInstalled == true {
            return "does not run (\(state.pusher?.state ?? "")): usage-push service install"
        }
        let start = state.account?.joined == true ? state.pusherStart : "ubq up"
        return "no service here\(last): \(tools)" + (state.tools.isEmpty ? "" : "; \(start) starts it")
    }

    private static func machines(_ facts: MachineFacts) -> [String] {
        guard let devices = facts.devices, !devices.isEmpty else { return [] }
        var table = TextTable(columns: ["MACHINE", "PRESENCE", "LAST PUSH", "VERSION"].map { TextTable.Column($0) })
        for device in devices {
            let version = facts.view?.devices.first { $0.name == device.device }?.appVersion
            table.append([
                VisibleText.escape(device.device) + (device.thisDevice == true ? " (this one)" : ""),
                device.page == true ? "page" : device.presence ?? "–",
                device.lastPush.map { DurationFormatter.age(of: $0, at: facts.now) } ?? "–",
                VisibleText.escape(version ?? "–"),
            ])
        }
        let age = devices[0].asOf.map {
            "The daemon does not answer; as it listed them \(DurationFormatter.age(of: $0, at: facts.now)):"
        }
        return [""] + [age].compactMap { $0 } + table.lines()
    }
}
