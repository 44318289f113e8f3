import ArgumentParser
import Commands
import Dispatch
import Essentials
import LocalFiles
import Synchronization
import TerminalText

struct AddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Set up other machines by SSH, from here.",
        discussion: """
            Copies the programs to ~/.local/lib/ubiquity there (with links in ~/.local/bin), joins the machine with a \
            code made on the spot, and pushes its limits as a service that runs without a login. Nothing but SSH and \
            tar is needed there, and no root. It runs your own ssh: keys, agents, names and questions are its business.

            The machine must be able to reach the daemon at this machine's address. A machine of another kind than \
            this one needs its package: --package FILE, the tarball of a release.

            EXAMPLES
              ubq add box
              ubq add box laptop-3 me@10.0.0.7 --yes
              ubq add box --view-only                    it shows limits, and pushes none
              ubq add box --remove                       take all of it away again

            EXIT STATUS
              0 all are done · 1 some are not; each says why, and may be repeated
            """)

    @Argument(help: ArgumentHelp("Hosts as ssh knows them.", valueName: "host")) var hosts: [String]
    @Flag(help: "Undo it on these hosts, and remove their devices.") var remove = false
    @Flag(help: "Push no limits from there.") var viewOnly = false
    @Flag(help: "Leave Claude Code's status line there alone.") var noStatusLine = false
    @Option(help: "A tarball with the programs for these hosts.", completion: .file(extensions: ["gz"]))
    var package: String?
    @OptionGroup var options: ConfirmationOptions

    func validate() throws {
        if let bad = hosts.first(where: { !RemoteHost.isValidName($0) }) {
            throw ValidationError("'\(bad)' is no name of a host")
        }
        if hosts.count > 32 { throw ValidationError("at most 32 hosts at once") }
        if remove, package != nil || viewOnly { throw ValidationError("--remove goes with no other option") }
    }

    func run() throws {
        let state = try MachineState.current()
        guard state.daemon != nil || state.account?.joined == true else {
            throw CommandFailure(.configuration, "this machine has no daemon yet that others could join; run ubq up")
        }
        if !remove, let daemon = state.daemon, daemon.isLocal {
            throw CommandFailure(
                .configuration, "kvsd listens on \(daemon.url) alone, which other machines cannot reach; run ubq up")
        }
        let connections = try RemoteHost.SharedConnections()
        var seen: Set<String> = []
        let hosts = hosts.filter { seen.insert($0).inserted }.map { RemoteHost($0, connections) }
        defer { connections.close(hosts) }
        // One after the other, as each may ask for a password.
        var visits: [HostVisit] = []
        var failed = 0
        for host in hosts {
            let outcome = host.run(RemoteScript.probe, seconds: 60)
            if outcome.status == 0, let facts = HostFacts(outcome.output) {
                visits.append(HostVisit(host: host, facts: facts, daemon: state.daemon))
            } else {
                failed += 1
                Console.report("\(host.name): \(outcome.reason)")
            }
        }
        let local = try LocalPackage(file: package)
        visits = visits.filter { visit in
            guard !remove, let obstacle = visit.obstacle(local) else { return true }
            failed += 1
            Console.report("\(visit.host.name): \(obstacle)")
            return false
        }
        for visit in visits {
            try Console.print("\(visit.host.name) (\(VisibleText.escape(visit.facts.kind)))")
            for line in remove
                ? HostVisit.removalLines : visit.lines(isViewer: viewOnly, capturesStatusLine: !noStatusLine)
            {
                try Console.print("  • " + line)
            }
        }
        if !visits.isEmpty, !options.dryRun,
            try options.yes || Console.confirm(verb: remove ? "remove them" : "add them")
        {
            let count = Mutex(0)
            DispatchQueue.concurrentPerform(iterations: visits.count) { [visits] index in
                let visit = visits[index]
                do {
                    try remove
                        ? visit.remove()
                        : visit.add(local, isViewer: viewOnly, capturesStatusLine: !noStatusLine)
                } catch {
                    count.withLock { $0 += 1 }
                    Console.report("\(visit.host.name): \(error)")
                }
            }
            failed += count.withLock { $0 }
        }
        if failed > 0 { throw ExitCode(ExitStatus.failure.rawValue) }
    }
}

/// What the probe says of a host.
struct HostFacts: Equatable {
    /// The system and the processor, as `uname` says.
    var kind = ""
    /// The address of this machine as the host sees it.
    var client: String?
    var freeByteCount: Int?
    var isWritable = false
    var version: String?
    var program: String?

    /// Nil unless the lines are those of the probe.
    init?(_ text: String) {
        for line in text.split(separator: "\n").prefix(100) {
            let words = line.split(separator: " ", maxSplits: 2).map(String.init)
            switch (words.first, words.count) {
            case ("kind", 3): kind = words[1] + " " + words[2]
            case ("client", 2): client = words[1]
            case ("free", 2): freeByteCount = Int(words[1]).map { $0 * 1_024 }
            case ("home", 2): isWritable = true
            case ("ubq", 3): (version, program) = (words[1], words[2])
            default: break
            }
        }
        if kind.isEmpty { return nil }
    }

    /// The system and processor of this machine.
    static var ownKind: String {
        var name = utsname()
        uname(&name)
        func text(_ field: some Any) -> String {
            withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        return text(name.sysname) + " " + text(name.machine)
    }
}

/// The programs that are copied to a host.
struct LocalPackage {
    /// The local command that writes an archive to its standard output.
    let archiver: (program: String, arguments: [String])
    /// What unpacks it there.
    let script: String
    let isOfOwnKind: Bool

    /// Copies it to the host, in place of an earlier one.
    func send(to host: RemoteHost) throws(CommandFailure) {
        let outcome = host.run(script, inputOf: archiver.program, archiver.arguments)
        guard outcome.status == 0 else { throw CommandFailure(.ioError, outcome.reason) }
    }
}

extension LocalPackage {
    /// - Parameter file: a tarball; nil for the programs beside this one.
    init(file: String?) throws(CommandFailure) {
        if let file {
            guard FileManager.default.isReadableFile(atPath: file) else {
                throw CommandFailure(.noInput, "cannot read \(file); --package names the tarball of a release")
            }
            // All of it is in a directory with the version.
            self.init(
                archiver: ("cat", ["--", file]), script: RemoteScript.install(into: ".", stripped: 1),
                isOfOwnKind: false)
            return
        }
        let own = ProgramLocation.current(name: "ubq").path
        guard let real = realpath(own, nil) else { throw CommandFailure(.ioError, "cannot find \(own)") }
        defer { free(real) }
        self.init(directory: String(cString: real).split(separator: "/").dropLast().map { "/" + $0 }.joined())
    }

    /// - Parameter directory: has the programs, or links to one of them that is all.
    init(directory: String) {
        var files: [String] = []
        // kvsd, clip and link come along where they are the same file.
        var identities: Set<FileStatus.Identity> = []
        for name in ["ubq", "kvs", "usage-push", "usage-view", "kvsd", "ubiquity-clip", "ubiquity-link"] {
            // Some are not in this package.
            guard let status = try? FileStatus(path: directory + "/" + name) else { continue }
            let isNew = identities.insert(status.identity).inserted
            if !isNew || identities.count <= 4 { files.append(name) }
        }
        self.init(
            archiver: ("tar", ["-C", directory, "-czf", "-", "--"] + files),
            script: RemoteScript.install(into: "bin", stripped: 0), isOfOwnKind: true)
    }
}

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
        let script = RemoteScript.join(program, options: options)
        var outcome = RemoteHost.Outcome(status: ExitStatus.unavailable.rawValue, output: "", errors: "")
        for url in addresses where outcome.status == ExitStatus.unavailable.rawValue {
            let line = try PairingCodes.line(url: url)
            outcome = host.run(script, input: line + "\n", seconds: 120)
        }
        let parts = outcome.output.split(separator: RemoteScript.stateMark + "\n", maxSplits: 1)
        for line in (parts.first ?? "").split(separator: "\n") where line.hasPrefix("✓") { try say(String(line)) }
        guard outcome.status == 0, parts.count == 2 else {
            throw CommandFailure(
                .unavailable,
                outcome.reason.replacing("ubq: ", with: "")
                    + "; it must reach the daemon here: \(daemon?.url ?? "see kvs status")")
        }
        let account = try JSONDecoder().decode(AccountReport.self, from: Data(parts[1].utf8))
        if !isViewer { try sayFirstNumbers(of: account) }
        let seconds = (clock.now - start) / .milliseconds(100)
        try say("done in \((seconds).rounded() / 10) s")
    }

    /// At the address that the host sees first, where that is one of this machine: others may not lead here.
    private var addresses: [String?] {
        guard let client = facts.client, let port = daemon?.port else { return [nil] }
        let host = client.contains(":") ? "[\(client)]" : client
        return ["https://\(host):\(port)", nil]
    }

    private func sayFirstNumbers(of account: AccountReport) throws {
        let device = account.device ?? host.name
        var tools: [String] = []
        _ = try waitUntil {
            let view = try Sibling.view.report(ViewReport.self, ["--json"])
            tools = view?.providers.filter { $0.devices.contains(device) }.map(\.name) ?? []
            return !tools.isEmpty
        }
        try say(
            tools.isEmpty
                ? "no numbers from \(device) yet: no AI coding tool has written any there"
                : "first numbers of \(device): \(Set(tools).sorted().listed)")
    }

    func remove() throws {
        let outcome = host.run(RemoteScript.remove, seconds: 120)
        let state = outcome.output.split(separator: RemoteScript.stateMark + "\n").last.map { Data($0.utf8) }
        guard outcome.status == 0 else {
            throw CommandFailure(.unavailable, outcome.reason.replacing("ubq: ", with: ""))
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
