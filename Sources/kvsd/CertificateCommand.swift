import ArgumentParser
import Commands
import Essentials
import KVStoreServer
import KVStoreWire
import TerminalText

struct CertificateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "certificate",
        abstract: "Show what browsers get at each address, and make phones trust it.",
        discussion: """
            Programs that were paired recognize the daemon by its key, whatever certificate it has. \
            Browsers need a certificate of an authority that they trust. Without one they warn, and \
            the page shows live data, but cannot be installed, work offline or receive messages.

            There are three ways, and nothing to install for the first two:

              1. a name with a certificate from an ACME client or 'tailscale cert':
                   kvsd serve --tls-certificate FILE --tls-key FILE
              2. a proxy that has one, such as Caddy or 'tailscale serve':
                   kvsd serve on loopback behind it
              3. a private authority, which each device installs once:
                   kvsd certificate authority create

            docs/certificates.md has the steps of each. Which certificate the running daemon has:

              kvsd certificate
              kvsd certificate --name box.local --json
            """,
        subcommands: [Status.self, Authority.self], defaultSubcommand: Status.self)
}

/// The options of commands about the hosts of a daemon.
struct HostOptions: ParsableArguments {
    @Option(
        name: .customLong("name"),
        help: ArgumentHelp(
            "Name or address by which devices reach the daemon, besides the addresses of this machine; can be repeated.",
            valueName: "host"))
    var names: [String] = []
    @Flag(help: "Leave out the addresses of this machine: use only those of --name.")
    var only = false

    @OptionGroup var data: DataOption

    func validate() throws {
        if only, names.isEmpty { throw ValidationError("--only needs at least one --name") }
    }

    /// The running daemon, with the hosts of this machine and the given ones.
    func daemon() async throws -> (status: DaemonStatus, hosts: [CertificateHost]) {
        guard let status = try data.directory.statusFile.read() else {
            throw CommandFailure.notRunning(
                .noInput, in: data.directory, start: "ubq up, or kvsd serve --listen 0.0.0.0")
        }
        let given = try names.map { name throws(ServerError) in try CertificateHost(name) }
        // An address with an interface is of no use to another machine.
        let found =
            only
            ? []
            // What is no host of a certificate is not named.
            : await ReachableHosts.find(listeningOn: status.host).compactMap { try? CertificateHost($0) }
        var hosts: [CertificateHost] = []
        for host in found + given where !hosts.contains(host) { hosts.append(host) }
        return (status, hosts)
    }
}

extension CertificateCommand {
    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Show the certificate of the running daemon and who trusts it.",
            discussion: """
                The page of an address can do everything only where the certificate is for that address and \
                its authority is trusted. The fingerprint is that of the private authority: compare it with \
                what a device shows before you trust it there.

                  kvsd certificate
                  kvsd certificate --name box.example.org
                """)

        @Flag(help: "Print JSON.") var json = false
        @OptionGroup var hosts: HostOptions

        func run() async throws {
            let (daemon, hosts) = try await hosts.daemon()
            let report = try await CertificateReport(
                of: daemon, in: self.hosts.data.directory, hosts: hosts, now: Date())
            if json { return try Console.printJSON(report) }
            for line in Self.lines(report) { try Console.print(line) }
        }

        static func lines(_ report: CertificateReport) -> [String] {
            var facts = TextTable(columns: [.init(""), .init("")])
            let expiry = report.expires.map { ", valid until \(day($0))" } ?? ""
            switch report.source {
            case .none: facts.append(["certificate", "none: kvsd speaks plain HTTP"])
            case .selfSigned:
                facts.append(["certificate", "self-signed\(expiry); renewed by kvsd"])
            case .authority:
                facts.append([
                    "certificate",
                    "issued by the private authority of kvsd\(expiry); renewed by kvsd",
                ])
            case .files:
                let issuer = VisibleText.escape(report.issuer ?? "")
                facts.append(["certificate", "issued by \(issuer)\(expiry)"])
            }
            if let file = report.file { facts.append(["file", VisibleText.escape(file)]) }
            if let authority = report.authority {
                facts.append(["authority", "\(authority.name), until \(day(authority.expires))"])
                facts.append(["fingerprint", authority.fingerprint])
            }
            let titles = ["ADDRESS", "IN CERTIFICATE", "TRUSTED BY", "PAGE"]
            var addresses = TextTable(columns: titles.map { TextTable.Column($0) })
            for address in report.addresses {
                addresses.append([
                    address.url, address.isNamed ? "yes" : "no", trust(address.trust),
                    address.page.joined(separator: ", "),
                ])
            }
            return facts.lines() + [""] + addresses.lines() + [""] + next(report)
        }

        private static func trust(_ trust: CertificateReport.Trust) -> String {
            switch trust {
            case .nobody: "nobody"
            case .installed: "devices with the authority"
            case .system: "the authorities of this system"
            case .loopback: "this machine"
            }
        }

        static func day(_ date: Date) -> String {
            date.formatted(.iso8601.year().month().day())
        }

        /// The next step.
        static func next(_ report: CertificateReport) -> [String] {
            let unnamed = report.addresses.filter { !$0.isNamed }.map(\.url)
            switch report.source {
            case .none:
                return [
                    "Browsers of this machine need no certificate. Other devices reach the page through a proxy that",
                    "has one, or after 'kvsd serve --listen 0.0.0.0', which speaks TLS.",
                ]
            case .selfSigned:
                return [
                    "Browsers warn, and the page can only show live data. Three ways to more, see docs/certificates.md:",
                    "  kvsd serve --tls-certificate FILE --tls-key FILE   a name with a certificate from an ACME client",
                    "  a proxy such as Caddy or 'tailscale serve'         in front of kvsd on loopback",
                    "  kvsd certificate authority create                  a private authority, installed on each device",
                ]
            case .authority:
                let replacement = [
                    "'kvsd certificate authority create --force' creates another, which each device must install."
                ]
                guard let url = report.addresses.first(where: { $0.trust == .installed })?.url else {
                    return [
                        "It is not valid now. Check the clock of this machine; after the end of an authority,"
                    ] + replacement
                }
                let installation = CertificateCommand.installation(at: url)
                if unnamed.isEmpty { return installation }
                return installation
                    + ["The authority is not for \(unnamed.joined(separator: " ")); for that,"]
                    + replacement
            case .files:
                if report.addresses.contains(where: { $0.trust == .system }) {
                    return ["Nothing to do for the addresses that are trusted."]
                }
                return [
                    "No address is trusted. The file must have the certificate with its chain, be valid now, and be for",
                    "the name that devices use; name that one with --name.",
                ]
            }
        }
    }

    /// How devices install the authority of a daemon.
    static func installation(at url: String) -> [String] {
        [
            "On each device, open this page, compare the fingerprint, and do what it says:",
            "  \(url)/certificate",
        ]
    }
}
