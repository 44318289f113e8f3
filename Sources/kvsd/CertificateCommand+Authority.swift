import ArgumentParser
import Commands
import Essentials
import KVStoreServer
import KVStoreWire

extension CertificateCommand {
    struct Authority: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "authority",
            abstract: "Create and remove a private authority that devices can install.",
            discussion: """
                It may issue only for the names and addresses that it was created for, so a device that \
                trusts it trusts nothing else. Its key is in the data directory, in a file of mode 0600, and \
                nowhere else: it is not served, logged or backed up. 'kvsd certificate' shows it.
                """,
            subcommands: [Create.self, Remove.self])
    }
}

extension CertificateCommand.Authority {
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: "Create an authority for the addresses of this machine and other names.",
            discussion: """
                The running daemon presents a certificate of it with the next connection, for the same key: \
                paired programs notice nothing. The daemon renews that certificate. The authority is valid \
                for ten years; --force replaces it, for example by one for other names, and then each \
                device must install the new one and remove the former.

                A name that stays is better than an address that a router may change:

                  kvsd certificate authority create
                  kvsd certificate authority create --name box.local --name 192.168.1.20
                  kvsd certificate authority create --name box.local --only
                """)

        @Flag(help: "Replace an authority that devices may have installed.") var force = false
        @OptionGroup var hosts: HostOptions

        func run() async throws {
            let directory = hosts.data.directory
            let (daemon, hosts) = try await hosts.daemon()
            guard let file = daemon.certificate else {
                throw CommandFailure(
                    .usage,
                    "kvsd speaks plain HTTP on \(daemon.host), so it presents no certificate; start it with "
                        + "kvsd serve --listen 0.0.0.0, or with --tls")
            }
            guard directory.isOwnCertificate(file) else {
                throw CommandFailure(
                    .usage, "kvsd presents the certificate of \(file); start it without --tls-certificate")
            }
            guard let authority = try directory.createAuthority(for: hosts, replacing: force) else {
                let former = try directory.certificateAuthority()?.hosts ?? []
                throw CommandFailure(
                    .usage,
                    "there is an authority for \(Self.list(former)) already, which devices may have "
                        + "installed; with --force another one for \(Self.list(hosts)) takes its place, "
                        + "and each device must install that one")
            }
            try Console.print("Created the authority \(authority.name)")
            try Console.print("  for          \(Self.list(authority.hosts))")
            try Console.print("  until        \(CertificateCommand.Status.day(authority.expires))")
            try Console.print("  fingerprint  \(authority.fingerprint)")
            try Console.print("")
            let url = ListenAddress(host: hosts[0].description, port: daemon.port).url(isEncrypted: true)
            for line in CertificateCommand.installation(at: url) { try Console.print(line) }
        }

        private static func list(_ hosts: [CertificateHost]) -> String {
            hosts.map(\.description).joined(separator: ", ")
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove the authority with its key.",
            discussion: """
                The daemon presents a self-signed certificate again, for the same key: paired programs notice \
                nothing, and browsers warn. Devices keep the authority until it is removed there too; \
                nobody can use it any more.

                  kvsd certificate authority remove
                """)

        @Flag(help: "Do not ask before removing.") var yes = false
        @OptionGroup var data: DataOption

        func run() throws {
            let directory = try data.existing()
            // One that cannot be read is removed as well.
            let former = Result { () throws(ServerError) in try directory.certificateAuthority() }
            if case .success(nil) = former {
                throw CommandFailure(.dataError, "there is no authority in \(directory.path); see 'kvsd certificate'")
            }
            let name = (try? former.get())?.name ?? "in \(directory.path), which cannot be read,"  // the text says so
            try Console.print(
                "The authority \(name) with its key will be removed permanently: devices that installed it will warn."
            )
            if !yes, try !Console.confirm(verb: "remove") {
                return try Console.print("Nothing was changed.")
            }
            try directory.removeAuthority()
            try Console.print("Removed. Remove it from the devices too; docs/certificates.md says where.")
        }
    }
}
