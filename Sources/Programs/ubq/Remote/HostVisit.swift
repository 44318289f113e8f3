import Commands
import Essentials
import TerminalText

/// What is done with one host, after the probe. Says how far it is, each line after the host's name.
struct HostVisit {
    let host: RemoteHost
    let facts: HostFacts
    /// The one here, if there is one.
    let daemon: DaemonReport?

    /// What programs and a replica need, with room for a second copy during an upgrade.
    private static let neededByteCount = 250_000_000

    static let removalLines = [
        "Stop pushing, restore its status line, leave the account",
        "Remove the programs that 'ubq add' has copied, and the device here",
    ]

    private var needsCopy: Bool { facts.version != ProgramVersion.text }

    /// Why it cannot be added.
    func obstacle(_ package: LocalPackage) -> String? {
        guard needsCopy else { return nil }
        if !facts.isWritable { return "its home directory cannot be written" }
        if let free = facts.freeByteCount, free < Self.neededByteCount {
            return "its home has \(free / 1_000_000) MB free, and \(Self.neededByteCount / 1_000_000) are needed"
        }
        guard package.isOfOwnKind, facts.kind != HostFacts.ownKind else { return nil }
        return "it is of another kind (\(facts.kind)) than this machine (\(HostFacts.ownKind)); "
            + "give the package for it: --package FILE"
    }

    func lines(isViewer: Bool, capturesStatusLine: Bool) -> [String] {
        (needsCopy ? ["Copy the programs to ~/.local/lib/ubiquity, with links in ~/.local/bin"] : [])
            + ["Join it with a code made on the spot"]
            + (isViewer ? [] : ["Push its limits as a service that runs without a login"])
            + (isViewer || !capturesStatusLine
                ? [] : ["Capture the limits that Claude Code passes to its status line, if it is there"])
    }

    private func say(_ text: String) throws { try Console.print(VisibleText.escape("\(host.name): \(text)")) }

    func add(_ package: LocalPackage, isViewer: Bool, capturesStatusLine: Bool) throws {
        let clock = ContinuousClock()
        let start = clock.now
        if needsCopy {
            try package.send(to: host)
            try say("copied \(ProgramVersion.text)")
        }
        let program = needsCopy ? #""$HOME/.local/lib/ubiquity/bin/ubq""# : ShellWord.quoted(facts.program ?? "ubq")
        let options = (isViewer ? ["--view-only"] : []) + (capturesStatusLine ? [] : ["--no-status-line"])
        let script = RemoteScript.join(program, options: options, servesWithoutLogin: !isViewer)
        var line = ""
        var outcome = RemoteHost.Outcome(status: ExitStatus.unavailable.rawValue, output: "", errors: "")
        for url in addresses where outcome.status == ExitStatus.unavailable.rawValue {
            line = try PairingCodes.line(url: url)
            outcome = host.run(script, input: line + "\n", seconds: 120)
        }
        let parts = outcome.output.split(separator: RemoteScript.stateMark + "\n", maxSplits: 1)
        for line in (parts.first ?? "").split(separator: "\n")
        where line.hasPrefix("✓") || line.hasPrefix(RemoteScript.warningMark) {
            try say(String(line))
        }
        guard outcome.status == 0, parts.count == 2 else {
            let address = line.split(separator: "/").dropFirst().first ?? ""
            throw CommandFailure(
                .unavailable,
                outcome.cause
                    + (outcome.cause.contains("cannot connect to")
                        ? "; \(host.name) must reach the daemon at https://\(address)" : ""))
        }
        let account = try JSONDecoder().decode(AccountReport.self, from: Data(parts[1].utf8))
        if !isViewer {
            let found = host.run(RemoteScript.sources(program), seconds: 30)
            // Without an answer that can be read, there may be numbers nevertheless.
            let sources = try? JSONDecoder().decode(SourcesReport.self, from: Data(found.output.utf8))
            try sayFirstNumbers(of: account.device ?? host.name, sources)
        }
        let seconds = (clock.now - start) / .milliseconds(100)
        try say("done in \((seconds).rounded() / 10) s")
    }

    /// At the address that the host sees first, where that is one of this machine: others may not lead here.
    private var addresses: [String?] {
        guard let client = facts.client, let port = daemon?.port else { return [nil] }
        let host = client.contains(":") ? "[\(client)]" : client
        return ["https://\(host):\(port)", nil]
    }

    /// Waits for the first numbers, unless no tool there has written any.
    private func sayFirstNumbers(of device: String, _ sources: SourcesReport?) throws {
        if let sources, !sources.sources.contains(where: \.isPushed) {
            let tools = sources.toolNames
            let reason =
                tools.isEmpty
                ? "no AI coding tool was found there"
                : "\(tools.listed) \(tools.count == 1 ? "has" : "have") written none"
            return try say("no numbers of \(device) yet: \(reason)")
        }
        var tools: [String] = []
        _ = try waitUntil {
            let view = try Sibling.view.report(ViewReport.self, ["--json"])
            tools = view?.providers.filter { $0.devices.contains(device) }.map(\.name) ?? []
            return !tools.isEmpty
        }
        try say(
            tools.isEmpty
                ? "no numbers of \(device) yet; to look for the reason, run there: ubq doctor"
                : "first numbers of \(device): \(Set(tools).sorted().listed)")
    }

    func remove() throws {
        let outcome = host.run(RemoteScript.remove, seconds: 120)
        let state = outcome.output.split(separator: RemoteScript.stateMark + "\n").last.map { Data($0.utf8) }
        guard outcome.status == 0 else {
            throw CommandFailure(.unavailable, outcome.cause)
        }
        try say("left, and removed what was copied")
        // A host that had not joined has no device, and one that reaches the daemon has removed its own.
        guard let account = state.flatMap({ try? JSONDecoder().decode(AccountReport.self, from: $0) }),
            let device = account.deviceID,
            try Sibling.kvs.report([DeviceReport].self, ["device", "list", "--json", "--fresh"])?
                .contains(where: { $0.deviceID == device }) == true
        else { return }
        let program: Sibling = daemon == nil ? .kvs : .daemon
        let removal = try program.capture(["device", "remove", device])
        guard removal.status == 0 else {
            throw CommandFailure(.unavailable, "the device \(device) stays: \(removal.message)")
        }
        try say("removed its device \(account.device ?? device)")
    }
}

extension RemoteHost.Outcome {
    /// Why `ubq` failed there, without its name and what would be repeated there.
    fileprivate var cause: String {
        var outcome = self
        outcome.errors = errors.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix(StepRunner.onward) }
            .joined(separator: "\n")
        return outcome.reason.replacing("ubq: ", with: "")
    }
}
