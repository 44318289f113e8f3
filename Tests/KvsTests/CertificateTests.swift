import Foundation
import TestSupport
import Testing

private enum Tools {
    static let areThere = ["openssl", "curl"].allSatisfy {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/" + $0)
    }
}

/// The private authority of a daemon, as programs see it: a browser's part is played by `openssl` and `curl`.
@Suite(
    "Certificates", .timeLimit(.minutes(5)),
    .enabled(if: Tools.areThere, "needs openssl and curl; scripts/bootstrap --tests installs them"))
struct CertificateTests {
    private func withDaemon(
        _ arguments: [String] = ["--tls"], _ body: (PairedDaemon) async throws -> Void
    ) async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        let daemon = try await PairedDaemon(home, arguments: arguments)
        do { try await body(daemon) } catch { Issue.record(error) }
        await daemon.stop()
    }

    private func certificate(_ daemon: PairedDaemon, _ arguments: String...) async throws -> TemporaryHome.Outcome {
        try await daemon.home.run("kvsd", ["certificate"] + arguments)
    }

    private struct Report: Decodable {
        struct Address: Decodable {
            var url: String
            var named: Bool
            var trust: String
            var page: [String]
        }
        struct Authority: Decodable {
            var fingerprint: String
            var hosts: [String]
        }
        var source: String
        var addresses: [Address]
        var authority: Authority?
    }

    private func report(_ daemon: PairedDaemon, _ arguments: [String] = []) async throws -> Report {
        let outcome = try await daemon.home.run("kvsd", ["certificate", "--json"] + arguments)
        return try JSONDecoder().decode(Report.self, from: outcome.output)
    }

    /// Creates an authority for 127.0.0.1 and the names; returns its certificate in PEM, as the daemon serves it.
    private func create(_ daemon: PairedDaemon, _ names: String...) async throws -> String {
        let created = try await daemon.home.run(
            "kvsd",
            ["certificate", "authority", "create", "--force"] + names.flatMap { ["--name", $0] })
        #expect(created.status == 0, "\(created.errors)")
        let path = daemon.home.path + "/authority.pem"
        let fetched = try await daemon.home.shell(
            """
            curl -sfk https://127.0.0.1:\(daemon.port)/certificate/authority.crt \
                | openssl x509 -inform DER -out \(path) && openssl x509 -in \(path) -noout -fingerprint -sha256
            """)
        #expect(fetched.status == 0, "\(fetched.errors)")
        let fingerprint = try #require(fetched.text.split(separator: "=").last)
        #expect(created.text.contains("fingerprint  \(fingerprint)"), "\(created.text)")
        return path
    }

    @Test("a browser trusts exactly the names and addresses of the authority, once it is installed")
    func handshake() async throws {
        try await withDaemon { daemon in
            let path = try await create(daemon, "Box.Local.", "[2001:db8::7]")
            let verified = try await daemon.home.shell(
                """
                openssl verify -x509_strict -purpose sslserver -CAfile \(path) \
                    \(daemon.path("tls-certificate.pem"))
                """)
            #expect(verified.status == 0, "\(verified.errors)")
            for (check, isTrusted) in [
                ("-verify_ip 127.0.0.1", true), ("-verify_hostname box.local", true),
                ("-verify_ip 2001:db8::7", true), ("-verify_ip 127.0.0.2", false),
                ("-verify_hostname other.test", false), ("-verify_hostname kvsd", false),
            ] {
                let handshake = try await daemon.home.shell(
                    """
                    openssl s_client -connect 127.0.0.1:\(daemon.port) -CAfile \(path) \
                        -verify_return_error \(check) </dev/null
                    """)
                #expect((handshake.status == 0) == isTrusted, "\(check): \(handshake.text)")
            }
            let anyone = try await daemon.home.shell(
                "openssl s_client -connect 127.0.0.1:\(daemon.port) -verify_return_error </dev/null"
            )
            #expect(anyone.status != 0)
        }
    }

    @Test(
        "with a stolen key of the authority nobody can pose as another host",
        arguments: [["box.local"], ["box.local", "192.0.2.7", "2001:db8::7"], ["2001:db8::7"], []])
    func stolenKey(names: [String]) async throws {
        try await withDaemon { daemon in
            let created = try await daemon.home.run(
                "kvsd",
                ["certificate", "authority", "create"] + names.flatMap { ["--name", $0] })
            #expect(created.status == 0, "\(created.errors)")
            let hosts = names + ["127.0.0.1"]
            let foreign = ["other.test", "192.0.2.8", "2001:db8::8", "local", "xbox.local"]
            for host in hosts + foreign {
                let kind = host.contains(/^[0-9.]+$|:/) ? "IP" : "DNS"
                // The file has the key and the certificate of the authority.
                let outcome = try await daemon.home.shell(
                    """
                    cd "$HOME" && A=\(daemon.path("tls-authority.pem")) &&
                    openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout leaf.key \
                        -subj /CN=leaf -out leaf.csr 2>/dev/null &&
                    printf 'subjectAltName=\(kind):\(host)\\nextendedKeyUsage=serverAuth\\n' > leaf.ext &&
                    openssl x509 -req -in leaf.csr -CA $A -CAkey $A -extfile leaf.ext -out leaf.pem 2>/dev/null &&
                    openssl verify -CAfile $A leaf.pem 2>&1
                    """)
                let isOwn = hosts.contains(host)
                #expect((outcome.status == 0) == isOwn, "\(host): \(outcome.text)")
                #expect(isOwn || outcome.text.contains("subtree violation"), "\(outcome.text)")
            }
        }
    }

    @Test("paired programs notice nothing while an authority is created, replaced and removed")
    func pinning() async throws {
        try await withDaemon { daemon in
            let device = try TemporaryHome()
            defer { device.remove() }
            let line = try await daemon.pair()
            #expect(try await device.kvs("join", line).status == 0)
            let own = try daemon.content("tls-key.pem")
            func sync(_ value: String) async throws {
                let set = try await device.kvs("set", "k", value, "--require-sync", "--timeout", "120")
                #expect(set.status == 0, "\(set.errors)")
            }
            try await sync("self-signed")
            #expect(try await report(daemon).source == "self-signed")
            let first = try await create(daemon, "box.local")
            try await sync("created")
            let former = try String(contentsOfFile: first, encoding: .utf8)
            _ = try await create(daemon, "nas.local")
            #expect(try String(contentsOfFile: first, encoding: .utf8) != former)
            try await sync("replaced")
            let state = try await report(daemon)
            #expect(state.source == "authority")
            #expect(state.authority?.hosts == ["nas.local", "127.0.0.1"])
            for name in ["tls-authority.pem", "tls-certificate.pem", "tls-key.pem"] {
                let attributes = try FileManager.default.attributesOfItem(atPath: daemon.path(name))
                #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
            }
            let removed = try await certificate(daemon, "authority", "remove", "--yes")
            #expect(removed.status == 0, "\(removed.errors)")
            try await sync("removed")
            #expect(try await report(daemon).source == "self-signed")
            #expect(!FileManager.default.fileExists(atPath: daemon.path("tls-authority.pem")))
            #expect(try daemon.content("tls-key.pem") == own)
        }
    }

    @Test("the state says for each address who trusts it and what the page can do")
    func addresses() async throws {
        try await withDaemon { daemon in
            let before = try await report(daemon, ["--name", "box.local"])
            #expect(before.addresses.map(\.trust) == ["nobody", "nobody"])
            #expect(before.addresses.map(\.page) == [["live"], ["live"]])
            _ = try await create(daemon, "box.local")
            let after = try await report(daemon, ["--name", "192.0.2.9", "--name", "BOX.local"])
            #expect(
                after.addresses.map(\.url)
                    == ["127.0.0.1", "192.0.2.9", "box.local"].map {
                        "https://\($0):\(daemon.port)"
                    })
            #expect(after.addresses.map(\.named) == [true, false, true])
            #expect(after.addresses.map(\.trust) == ["installed", "nobody", "installed"])
            #expect(after.addresses[2].page == ["live", "install", "offline", "push"])
            let fingerprint = try #require(after.authority?.fingerprint)
            let text = try await certificate(daemon).text
            #expect(text.contains(fingerprint) && text.contains(":\(daemon.port)/certificate\n"))
            let changed = try await certificate(daemon, "--name", "192.0.2.9").text
            // One address more, which devices need not use, is no reason for another authority.
            #expect(changed.contains(":\(daemon.port)/certificate\n"), "\(changed)")
            #expect(changed.contains("not for https://192.0.2.9"), "\(changed)")
            #expect(changed.contains("create --force"))
        }
    }

    @Test("hosts that cannot be in a certificate are refused by name, and nothing is created")
    func refusedHosts() async throws {
        try await withDaemon { daemon in
            for host in [
                "*.example.test", ".", "a..b", "-a.test", "under_score.test", "münchen.test", "300.1.1.1", "1.2.3",
                "fe80::1%eth0", "https://box.local", "a b", String(repeating: "a", count: 64), "x\u{1B}[31m",
            ] {
                let refused = try await certificate(daemon, "authority", "create", "--name=\(host)")
                #expect(refused.status == 65, "\(host): \(refused.errors)")
                #expect(refused.errors.contains("host name of ASCII letters"))
                #expect(!refused.errors.contains("\u{1B}"))
            }
            for host in ["com", "DE", "co.uk.", "github.io", "local", "home.arpa"] {
                let refused = try await certificate(daemon, "authority", "create", "--name", host)
                #expect(refused.status == 65, "\(host): \(refused.errors)")
                #expect(refused.errors.contains("could pose as every host below"))
            }
            let many = (0..<33).flatMap { ["--name", "box\($0).test"] }
            let refused = try await daemon.home.run("kvsd", ["certificate", "authority", "create"] + many)
            #expect(refused.status == 65 && refused.errors.contains("1 to 32"), "\(refused.errors)")
            #expect(refused.errors.contains("--only"), "\(refused.errors)")
            let none = try await certificate(daemon, "authority", "create", "--only")
            #expect(none.status == 64 && none.errors.contains("--name"), "\(none.errors)")
            #expect(!FileManager.default.fileExists(atPath: daemon.path("tls-authority.pem")))
        }
    }

    @Test("an authority can be for names alone, without the addresses of the machine")
    func only() async throws {
        try await withDaemon { daemon in
            let created = try await certificate(daemon, "authority", "create", "--name", "box.local", "--only")
            #expect(created.text.contains("https://box.local:\(daemon.port)/certificate"))
            let state = try await report(daemon)
            #expect(state.authority?.hosts == ["box.local"])
            #expect(state.addresses.map(\.trust) == ["nobody", "installed"])
            let text = try await certificate(daemon).text
            #expect(text.contains("https://box.local:\(daemon.port)/certificate"), "\(text)")
            #expect(text.contains("not for https://127.0.0.1"), "\(text)")
        }
    }

    @Test("of authorities that are created at once one is kept, and the daemon's certificate is its")
    func atOnce() async throws {
        try await withDaemon { daemon in
            for _ in 0..<5 {
                let outcomes = try await withThrowingTaskGroup(of: TemporaryHome.Outcome.self) { group in
                    for _ in 0..<4 {
                        group.addTask { try await certificate(daemon, "authority", "create") }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(outcomes.map(\.status).sorted() == [0, 64, 64, 64])
                let created = try #require(outcomes.first { $0.status == 0 })
                let state = try await report(daemon)
                let fingerprint = try #require(state.authority?.fingerprint)
                #expect(created.text.contains(fingerprint), "\(created.text) \(state)")
                let file = try await daemon.home.shell(
                    "openssl x509 -in \(daemon.path("tls-authority.pem")) -noout -fingerprint -sha256"
                )
                #expect(file.text.contains(fingerprint), "\(file.text)")
                let removed = try await certificate(daemon, "authority", "remove", "--yes")
                #expect(removed.status == 0, "\(removed.errors)")
            }
        }
    }

    @Test("creating an authority again finishes a creation that was interrupted")
    func interruptedCreation() async throws {
        try await withDaemon { daemon in
            let former = try daemon.content("tls-certificate.pem")
            #expect(try await certificate(daemon, "authority", "create").status == 0)
            // As if killed before the second of its files.
            try former.write(toFile: daemon.path("tls-certificate.pem"), atomically: true, encoding: .utf8)
            #expect(try await report(daemon).source == "self-signed")
            let again = try await certificate(daemon, "authority", "create")
            #expect(again.status == 64 && again.errors.contains("--force"), "\(again.errors)")
            #expect(try await report(daemon).source == "authority")
        }
    }

    @Test("on a full disk an authority is either removed or stays, and removing works afterwards")
    func fullDisk() async throws {
        try await withDaemon { daemon in
            #expect(try await certificate(daemon, "authority", "create").status == 0)
            let program = try #require(TemporaryHome.program("kvsd")).path
            let failed = try await daemon.home.shell(
                "trap '' XFSZ; ulimit -f 0; exec '\(program)' certificate authority remove --yes")
            #expect(failed.status == 74, "\(failed.errors)")
            #expect(try await report(daemon).source == "authority")
            let removed = try await certificate(daemon, "authority", "remove", "--yes")
            #expect(removed.status == 0, "\(removed.errors)")
            #expect(try await report(daemon).source == "self-signed")
            #expect(!FileManager.default.fileExists(atPath: daemon.path("tls-authority.pem")))
        }
    }

    @Test("an authority that devices may have installed is replaced only with --force")
    func force() async throws {
        try await withDaemon { daemon in
            _ = try await create(daemon, "box.local")
            let former = try daemon.content("tls-authority.pem")
            let refused = try await certificate(daemon, "authority", "create", "--name", "nas.local")
            #expect(refused.status == 64)
            for word in ["box.local", "nas.local", "--force", "install"] {
                #expect(refused.errors.contains(word), "\(refused.errors)")
            }
            let asked = try await certificate(daemon, "authority", "remove")
            #expect(asked.status == 64 && asked.errors.contains("--yes"), "\(asked.errors)")
            #expect(try daemon.content("tls-authority.pem") == former)
        }
    }

    @Test("a damaged or open authority names the file and the remedy, without any part of the key")
    func damaged() async throws {
        try await withDaemon { daemon in
            _ = try await create(daemon, "box.local")
            let path = daemon.path("tls-authority.pem")
            let intact = try daemon.content("tls-authority.pem")
            let secret = intact.split(separator: "\n")[1]
            try intact.replacing("BEGIN EC", with: "BEGUN EC").replacing(
                "BEGIN PRIVATE", with: "BEGUN PRIVATE"
            ).write(toFile: path, atomically: false, encoding: .utf8)
            let damaged = try await certificate(daemon, "authority", "create")
            #expect(damaged.status == 74)
            #expect(damaged.errors.contains(path) && damaged.errors.contains("authority remove"))
            #expect(!damaged.errors.contains(secret))
            try intact.write(toFile: path, atomically: false, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
            let open = try await certificate(daemon, "authority", "create")
            #expect(open.status == 74 && open.errors.contains("chmod 600 \(path)"), "\(open.errors)")
            let removed = try await certificate(daemon, "authority", "remove", "--yes")
            #expect(removed.status == 0, "\(removed.errors)")
            let none = try await certificate(daemon, "authority", "remove", "--yes")
            #expect(none.status == 65 && none.errors.contains("no authority"), "\(none.errors)")
        }
    }

    @Test("without a certificate of its own the daemon makes no authority, and says which one counts")
    func elsewhere() async throws {
        try await withDaemon([]) { daemon in
            let state = try await report(daemon, ["--name", "192.0.2.9"])
            #expect(state.source == "none")
            #expect(state.addresses.map(\.trust) == ["loopback", "nobody"])
            let refused = try await certificate(daemon, "authority", "create")
            #expect(refused.status == 64 && refused.errors.contains("--listen 0.0.0.0"))
        }
        let files = try TemporaryHome()
        defer { files.remove() }
        let made = try await files.shell(
            """
            cd "$HOME" && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem \
                -subj /CN=box -addext subjectAltName=DNS:*.example.test -days 30 -out chain.pem
            """)
        #expect(made.status == 0, "\(made.errors)")
        try await withDaemon([
            "--tls-certificate", files.path + "/chain.pem", "--tls-key", files.path + "/key.pem",
        ]) { daemon in
            let state = try await report(daemon, ["--name", "a.example.test"])
            #expect(state.source == "files")
            #expect(state.addresses.map(\.named) == [false, true])
            #expect(state.addresses.map(\.trust) == ["nobody", "nobody"])
            let refused = try await certificate(daemon, "authority", "create")
            #expect(refused.status == 64 && refused.errors.contains("/chain.pem"))
        }
        let home = try TemporaryHome()
        defer { home.remove() }
        let stopped = try await home.run("kvsd", ["certificate"])
        #expect(stopped.status == 66 && stopped.errors.contains("kvsd serve"), "\(stopped.errors)")
    }
}
