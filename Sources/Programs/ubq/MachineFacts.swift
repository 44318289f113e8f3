import Commands
import Essentials
import LocalFiles

/// All that is asked for a look at the whole: the state of this machine, and what it knows of the others.
struct MachineFacts: Equatable {
    var now = Date()
    var state = MachineState()
    /// The devices of the account, as the daemon listed them last if it does not answer; nil if it never did.
    var devices: [DeviceReport]?
    var view: ViewReport?
    var alerts: AlertsReport?
    var gate: GateReport?
    /// The certificate of the daemon here.
    var certificate: CertificateReport?
    /// What each program says with `--version`; nil for one that cannot be run.
    var versions: [Sibling: String?] = [:]
    /// Whether the service of usage-push would be written differently today.
    var isServiceOutdated = false
    var hostName = ""
    /// What is free on the disk with the replica.
    var freeByteCount: Int?
    /// What keeps this user from the files that cannot be read, by their paths.
    var barriers: [String: Barrier] = [:]
    /// What keeps it from saving anything in the directories of this product.
    var unwritable: [Barrier] = []

    /// - Parameter isPartial: whether the versions alone are enough where a program that would be asked is missing.
    static func current(isPartial: Bool = false) throws -> MachineFacts {
        var facts = MachineFacts()
        for program in Sibling.allCases {
            let outcome = try? program.capture(["--version"])  // A missing one is a finding.
            let version: String? = outcome.map { String(decoding: $0.output, as: UTF8.self).trimmed() }
            facts.versions.updateValue(version, forKey: program)
        }
        let asked: [Sibling] = [.daemon, .kvs, .push, .view]
        if isPartial, asked.contains(where: { facts.versions[$0] == .some(nil) }) { return facts }
        facts.state = try .current()
        if facts.state.account?.joined == true {
            facts.devices = try Sibling.kvs.report([DeviceReport].self, ["device", "list", "--json"])
        }
        facts.view = try Sibling.view.report(ViewReport.self, ["--json"])
        facts.alerts = try Sibling.push.report(AlertsReport.self, ["alerts", "--json"])
        facts.gate = try Sibling.view.report(GateReport.self, ["gate", "status", "--json"])
        if facts.state.daemon != nil {
            facts.certificate = try Sibling.daemon.report(CertificateReport.self, ["certificate", "--json"])
        }
        if let unit = facts.state.pusher, unit.isInstalled, let text = Self.text(of: unit.unitFile),
            text.hasPrefix("# Written by usage-push")
        {
            let today = try Sibling.push.capture(["service", "install", "--print"])
            facts.isServiceOutdated =
                today.status == 0
                && Self.identified(text) != Self.identified(String(decoding: today.output, as: UTF8.self))
        }
        facts.hostName = ProcessInfo.processInfo.hostName
        let directories = UserDirectories()
        facts.freeByteCount =
            LocalDirectory(directories.data).freeByteCount ?? LocalDirectory(directories.home).freeByteCount
        let unreadable = (facts.state.sources?.sources ?? []).flatMap { $0.findings.filter { $0.isError == true } }
        for path in unreadable.map(\.path) { facts.barriers[path] = Barrier(reading: path) }
        for path in [directories.data, directories.state, directories.config] {
            guard let barrier = Barrier(writing: path), !facts.unwritable.contains(barrier) else { continue }
            facts.unwritable.append(barrier)
        }
        return facts
    }

    /// The unit with its program itself in place of the path, of which several lead to one program: a login has
    /// ~/.local/bin in its search path, and a command by ssh has not.
    static func identified(_ unit: String) -> String {
        unit.split(separator: "\n").map { line in
            // A path that is quoted is compared as it is, and so is one that leads nowhere.
            guard line.hasPrefix("ExecStart=/"), !line.contains(where: { "\"'\\%$".contains($0) }),
                let path = line.dropFirst("ExecStart=".count).split(separator: " ").first,
                // One that is not there is no program.
                let program = try? FileStatus(path: String(path))?.identity
            else { return String(line) }
            return String(line.replacing(path, with: "\(program)", maxReplacements: 1))
        }.joined(separator: "\n")
    }

    private static func text(of path: String) -> String? {
        // One that cannot be read is left to the program whose service it is.
        (try? LocalFile(path).read(byteLimit: 1_048_576)).flatMap {
            $0.map { String(decoding: $0.data, as: UTF8.self) }
        }
    }
}
