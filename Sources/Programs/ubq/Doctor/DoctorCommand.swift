import ArgumentParser
import Commands
import Essentials
import LocalFiles
import TerminalText

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Say what is wrong, with the command that mends each.",
        discussion: """
            Looks at the programs, the daemon, the account, the clock, the pusher and the files that it reads, \
            alerts, certificate, devices and versions; the worst is first. docs/ubq.md has the list.

            EXAMPLES
              ubq doctor
              ubq doctor --fix              do what is safe: start what does not run, write its service again
              ubq doctor --bundle FILE      write a report for a bug report, without names and secrets
              ubq doctor --json

            EXIT STATUS
              0 nothing is wrong · 1 something is
            """)

    @Flag(help: "Run the commands that are safe, and look again.") var fix = false
    @Flag(help: "Print JSON.") var json = false
    @Option(help: "Write a report to this file.", completion: .file()) var bundle: String?

    func validate() throws {
        if json, fix || bundle != nil { throw ValidationError("--json goes with neither --fix nor --bundle") }
    }

    private struct Document: Encodable {
        var schemaVersion = 1
        var findings: [Finding]
    }

    func run() throws {
        let lock = fix ? try ConfirmationOptions.answeringYes.lockMachine() : nil
        defer { lock?.unlock() }
        var facts = try MachineFacts.current(isPartial: true)
        var findings = Finding.all(facts)
        if fix {
            for finding in findings where !finding.fix.isEmpty {
                // Why not has been said; the others are tried too.
                let isDone = try? StepRunner(options: .answeringYes, repetition: { _, _ in "ubq doctor --fix" })
                    .run(finding.fix, facts: [], verb: "repair")
                if isDone != true { Console.report("this is left: \(finding.text)") }
            }
            if findings.contains(where: { !$0.fix.isEmpty }) {
                facts = try MachineFacts.current(isPartial: true)
                findings = Finding.all(facts)
            }
        }
        if let bundle {
            let data = try JSONOutput.data(DoctorBundle(facts, findings), isIndented: true)
            try LocalFile(bundle).save(DoctorBundle.masked(data, facts))
            try Console.print("wrote \(VisibleText.escape(bundle)); read it before you send it")
        } else if json {
            try Console.printJSON(Document(findings: findings), isIndented: true)
        } else if findings.isEmpty {
            try Console.print("nothing is wrong")
        }
        if !json {
            for finding in findings {
                try Console.print("✗ " + VisibleText.escape(finding.text))
                if let command = finding.command { try Console.print("    " + VisibleText.escape(command)) }
            }
        }
        if !findings.isEmpty { throw ExitCode(ExitStatus.failure.rawValue) }
    }
}

extension ConfirmationOptions {
    static var answeringYes: ConfirmationOptions {
        var options = ConfirmationOptions()
        options.yes = true
        options.dryRun = false
        return options
    }
}

/// What a bug report needs: versions, states and findings. Names, addresses and paths of the user are masked.
struct DoctorBundle: Encodable {
    private var schemaVersion = 1
    private var version = ProgramVersion.text
    private var system = HostFacts.ownKind
    private var findings: [Finding]
    private var programs: [String: String]
    private var daemon: [String: String]
    private var pusher: [String: String]
    private var connection: String?
    private var sources: [String: [String]]
    private var messages: [String]

    init(_ facts: MachineFacts, _ findings: [Finding]) {
        let state = facts.state
        self.findings = findings
        programs = Dictionary(uniqueKeysWithValues: facts.versions.map { ($0.key.rawValue, $0.value ?? "missing") })
        daemon = ["service": state.daemonService?.state ?? "unknown"]
        if let running = state.daemon {
            daemon["version"] = running.version
            daemon["writes"] = running.acceptsWrites ? "accepted" : running.incident?.text ?? "refused"
        }
        pusher = ["service": state.pusher?.state ?? "unknown"]
        if let last = state.pusher?.lastPush { pusher["lastPush"] = last.formatted(.iso8601) }
        connection = state.account?.connection
        sources = Dictionary(
            (state.sources?.sources ?? []).filter(\.isInstalled).map { source in
                (source.providerID, source.findings.map { "\($0.title): \($0.detail)" })
            }, uniquingKeysWith: +)
        messages = (state.daemonService?.messages ?? []) + (state.pusher?.messages ?? [])
    }

    /// The document without the home directory, names of devices, hosts and accounts, and addresses.
    static func masked(_ data: Data, _ facts: MachineFacts) -> Data {
        var text = String(decoding: data, as: UTF8.self)
        text = text.replacing(UserDirectories().home, with: "~")
        let devices = Set((facts.devices ?? []).map(\.device) + [facts.hostName, facts.state.account?.device ?? ""])
        let account = [facts.state.account?.account, facts.state.account?.daemon, facts.state.daemon?.url]
        // The longest first, as one may contain another.
        for (index, name) in (devices + account.compactMap { $0 }).filter({ $0.count > 1 })
            .sorted(by: { ($0.count, $0) > ($1.count, $1) }).enumerated()
        {
            text = text.replacing(name, with: "name-\(index + 1)")
        }
        text = text.replacing(#/[A-Za-z0-9._%+\-]+@[A-Za-z0-9.\-]+/#, with: "address")
            .replacing(#/\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}\b/#, with: "0.0.0.0")
        return Data(text.hidingLogins.utf8)
    }
}
