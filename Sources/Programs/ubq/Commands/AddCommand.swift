import ArgumentParser
import Commands
import Dispatch
import Essentials
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
