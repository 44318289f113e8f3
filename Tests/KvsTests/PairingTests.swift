import Foundation
import TestSupport
import Testing

/// Two machines and a daemon with TLS, all as programs.
@Suite("Pairing", .timeLimit(.minutes(5)))
struct PairingTests {
    /// The daemon, and the home of a device.
    private func withDaemon(
        _ arguments: [String] = ["--tls"],
        _ body: (PairedDaemon, TemporaryHome) async throws -> Void
    ) async throws {
        let (home, device) = (try TemporaryHome(), try TemporaryHome())
        defer { TemporaryHome.remove(home, device) }
        let daemon = try await PairedDaemon(home, arguments: arguments)
        do { try await body(daemon, device) } catch { Issue.record(error) }
        await daemon.stop()
    }

    private func credentials(_ home: TemporaryHome) throws -> [String: Any] {
        let data = try Data(contentsOf: URL(filePath: home.path + "/.config/ubiquity/credentials.json"))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    @Test("variables connect a machine that has joined nothing, and pin the key that the daemon must have")
    func variables() async throws {
        try await withDaemon { daemon, container in
            var container = container
            let status = try await daemon.home.run("kvsd", ["status", "--json"])
            let report = try JSONSerialization.jsonObject(with: Data(status.text.utf8))
            let added = try await daemon.home.run("kvsd", ["device", "add", "container", "--json"])
            let device = try JSONSerialization.jsonObject(with: Data(added.text.utf8))
            let key = try #require((report as? [String: Any])?["key"] as? String)
            container.variables["UBIQUITY_DAEMON"] = "https://127.0.0.1:\(daemon.port)"
            container.variables["UBIQUITY_TOKEN"] = try #require((device as? [String: Any])?["token"] as? String)
            container.variables["UBIQUITY_KEY"] = String(repeating: "A", count: 43)
            let refused = try await container.patiently("set", "k", "v", "--require-sync")
            #expect(refused.status == 75 && refused.errors.contains("key"), "\(refused.errors)")
            container.variables["UBIQUITY_KEY"] = key
            let accepted = try await container.patiently("set", "k", "v", "--require-sync")
            #expect(accepted.status == 0, "\(accepted.errors)")
            #expect(try await container.patiently("get", "k").text == "v")
        }
    }

    @Test("two machines pair over TLS, sync, and no secret appears in a log")
    func pairing() async throws {
        try await withDaemon { daemon, desk in
            let phone = try TemporaryHome()
            defer { phone.remove() }
            let line = try await daemon.pair("--name", "desk")
            let joined = try await desk.patiently("join", line)
            #expect(joined.status == 0, "\(joined.errors)")
            #expect(joined.text.contains("as device desk"), "\(joined.text)")
            #expect(joined.text.contains("store default: 0 keys, 0 bytes"), "\(joined.text)")
            #expect(try await desk.patiently("set", "k", "v", "--require-sync").status == 0)

            let other = try await daemon.pair()
            let second = try await phone.patiently("join", other, "--name", "phone")
            #expect(second.text.contains("as device phone"), "\(second.errors)")
            #expect(second.text.contains("store default: 1 key, "), "\(second.text)")
            #expect(try await phone.kvs("get", "k").text == "v")
            let pasted = try await phone.patiently("join", "  kvs join '\(try await daemon.pair())'\n")
            #expect(pasted.status == 0, "with the words around it: \(pasted.errors)")

            let stored = try credentials(phone)
            #expect(stored["key"] as? String == other.components(separatedBy: "/").last)
            let attributes = try FileManager.default.attributesOfItem(
                atPath: phone.path + "/.config/ubiquity/credentials.json")
            #expect(attributes[.posixPermissions] as? Int == 0o600)

            let secrets = [
                line.components(separatedBy: "/")[3], other.components(separatedBy: "/")[3],
                try #require(stored["token"] as? String),
                try daemon.content("tls-key.pem").components(separatedBy: "\n")[1],
            ]
            for name in ["tls-key.pem", "tls-certificate.pem", "pairings.json", "daemon.json"] {
                let mode = try FileManager.default.attributesOfItem(atPath: daemon.path(name))
                #expect(mode[.posixPermissions] as? Int == 0o600, "\(name)")
            }
            let pairings = try daemon.content("pairings.json")
            let log = await daemon.stop()
            #expect(log.contains("paired device"))
            for secret in secrets {
                #expect(!log.contains(secret) && !joined.errors.contains(secret))
            }
            #expect(!pairings.contains(secrets[0]) && !pairings.contains(secrets[1]))
        }
    }

    @Test("a page gets no address at which browsers would not keep its cookie, and no code")
    func insecurePage() async throws {
        try await withDaemon([]) { daemon, _ in
            let pair = ["pair", "--page", "--url"]
            for url in ["http://box.example.test", "http://192.0.2.7:8722/kvs"] {
                let refused = try await daemon.home.run("kvsd", pair + [url])
                #expect(refused.status == 64 && refused.errors.contains(url), "\(refused.errors)")
                #expect(refused.errors.contains("https://"), "\(refused.errors)")
            }
            #expect(!FileManager.default.fileExists(atPath: daemon.path("pairings.json")))
            for url in ["https://box.example.test", "http://localhost:8722", "http://[::1]:8722"] {
                let printed = try await daemon.home.run("kvsd", pair + [url])
                #expect(printed.text.contains(url), "\(printed)")
            }
        }
    }

    @Test("a used, an expired and a wrong code are refused, each with the next step")
    func refusedCodes() async throws {
        try await withDaemon { daemon, device in
            let other = try TemporaryHome()
            defer { other.remove() }
            let line = try await daemon.pair()
            #expect(try await device.patiently("join", line).status == 0)
            let used = try await other.patiently("join", line)
            #expect(used.status == 77 && used.errors.contains("(used-code)"), "\(used.errors)")
            #expect(used.errors.contains("run ubq up (or kvsd pair)"))

            let late = try await daemon.pair()
            let aged = try daemon.content("pairings.json")
                .replacing(/"created":(\d+)/) { "\"created\":\((Int($0.1) ?? 0) - 600_000)" }
            try aged.write(toFile: daemon.path("pairings.json"), atomically: true, encoding: .utf8)
            let expired = try await other.patiently("join", late)
            #expect(expired.status == 77 && expired.errors.contains("(expired-code)"), "\(expired.errors)")

            var parts = try await daemon.pair().components(separatedBy: "/")
            parts[3] = parts[3].prefix(8) + String(repeating: "A", count: 22)
            let wrong = try await other.patiently("join", parts.joined(separator: "/"))
            #expect(wrong.status == 77 && wrong.errors.contains("(wrong-code)"), "\(wrong.errors)")
            for outcome in [used, expired, wrong] {
                #expect(!outcome.errors.contains(line) && !outcome.errors.contains(parts[3]))
            }
            let cut = try await other.patiently("join", String(line.dropLast(5)))
            #expect(cut.status == 64 && cut.errors.contains("incomplete line"), "\(cut.errors)")
            #expect(!FileManager.default.fileExists(atPath: other.path + "/.config"))
        }
    }

    @Test("a daemon with another key gets neither code nor token; a renewed certificate is accepted")
    func otherKey() async throws {
        try await withDaemon { daemon, device in
            let line = try await daemon.pair()
            let key = try #require(line.components(separatedBy: "/").last)
            let swapped = line.replacing(key, with: String(key.reversed().map { $0 }).prefix(42) + "A")
            let refused = try await device.patiently("join", swapped)
            #expect(refused.status == 69, "\(refused.errors)")
            #expect(refused.errors.contains("its key is \(key)"), "\(refused.errors)")
            // The code is still unused.
            #expect(try await device.patiently("join", line).status == 0)
            await daemon.stop()

            let certificate = try daemon.content("tls-certificate.pem")
            try FileManager.default.removeItem(atPath: daemon.path("tls-certificate.pem"))
            let renewed = try await PairedDaemon(daemon.home, port: daemon.port)
            #expect(try renewed.content("tls-certificate.pem") != certificate)
            let accepted = try await device.patiently("set", "k", "v", "--require-sync")
            #expect(accepted.status == 0, "\(accepted.errors)")
            await renewed.stop()

            try FileManager.default.removeItem(atPath: daemon.path("tls-key.pem"))
            let posing = try await PairedDaemon(daemon.home, port: daemon.port)
            let sync = try await device.patiently("sync")
            #expect(sync.status == 69 && sync.errors.contains("instead of \(key)"), "\(sync.errors)")
            #expect(sync.errors.contains("run kvsd pair there and kvs join"))
            let again = try await device.patiently("join", try await posing.pair())
            #expect(again.status == 0, "\(again.errors)")
            #expect(try await device.patiently("get", "k", "--fresh").text == "v")
            await posing.stop()
        }
    }

    @Test("files of the operator are read again when they change; broken ones change nothing")
    func operatorFiles() async throws {
        let (first, second) = (try TemporaryHome(), try TemporaryHome())
        defer { TemporaryHome.remove(first, second) }
        // Two daemons make the files of two operators.
        for home in [first, second] { await (try await PairedDaemon(home)).stop() }
        let directory = "/.local/share/ubiquity/kvsd/"
        let files = try TemporaryHome()
        defer { files.remove() }
        func install(_ home: TemporaryHome, _ name: String) throws {
            let text = try String(contentsOfFile: home.path + directory + name, encoding: .utf8)
            try files.file(name, text)
        }
        for name in ["tls-certificate.pem", "tls-key.pem"] { try install(first, name) }
        let arguments = [
            "--tls-certificate", files.path + "/tls-certificate.pem", "--tls-key", files.path + "/tls-key.pem",
        ]
        try await withDaemon(arguments) { daemon, device in
            let joined = try await device.patiently("join", try await daemon.pair())
            #expect(joined.status == 0, "\(joined.errors)")
            #expect(!FileManager.default.fileExists(atPath: daemon.path("tls-key.pem")))
            // The certificate without its key.
            try install(second, "tls-certificate.pem")
            #expect(try await device.patiently("set", "k", "v", "--require-sync").status == 0)
            try install(second, "tls-key.pem")
            let sync = try await device.patiently("sync")
            #expect(sync.status == 69 && sync.errors.contains("its key is"), "\(sync.errors)")
            let again = try await device.patiently("join", try await daemon.pair())
            #expect(again.status == 0, "\(again.errors)")
            let log = await daemon.stop()
            #expect(log.contains("certificate unchanged") && log.contains("not the private key of"))
            #expect(log.contains("must be paired again"))
        }
    }

    @Test("an expired certificate is accepted: with a pinned key no clock has to be right")
    func expiredCertificate() async throws {
        let files = try TemporaryHome()
        defer { files.remove() }
        let arguments = [
            "--tls-certificate", try files.file("c.pem", ExpiredCertificate.certificate),
            "--tls-key", try files.file("k.pem", ExpiredCertificate.key),
        ]
        try await withDaemon(arguments) { daemon, device in
            let joined = try await device.patiently("join", try await daemon.pair())
            #expect(joined.status == 0, "\(joined.errors)")
        }
    }

    @Test("plain HTTP to a TLS port, TLS to a plain port, and an unknown issuer say what to do")
    func otherProtocols() async throws {
        try await withDaemon { daemon, device in
            let plain = try await device.patiently("join", "http://127.0.0.1:\(daemon.port)", "--token", "unkn0wn")
            #expect(plain.status == 69 && plain.errors.contains("(tls-required)"))
            #expect(plain.errors.contains("use https://"), "\(plain.errors)")
            let unpinned = try await device.patiently("join", "https://127.0.0.1:\(daemon.port)", "--token", "unkn0wn")
            #expect(unpinned.status == 69 && unpinned.errors.contains("run kvsd pair"))
        }
        try await withDaemon([]) { daemon, device in
            let outcome = try await device.patiently("join", "https://127.0.0.1:\(daemon.port)", "--token", "unkn0wn")
            #expect(outcome.status == 69 && outcome.errors.contains("no TLS there"))
            // Without TLS the line says so.
            let line = try await daemon.pair()
            #expect(line.hasSuffix("/http"))
            #expect(try await device.patiently("join", line).status == 0)
        }
    }

    @Test("a daemon that listens beyond loopback uses TLS by default")
    func beyondLoopback() async throws {
        let (home, device) = (try TemporaryHome(), try TemporaryHome())
        defer { TemporaryHome.remove(home, device) }
        let daemon = try await PairedDaemon(home, host: "0.0.0.0", arguments: [])
        #expect(try await daemon.pair().contains(/^ubiquity:\/\/[^\/]+:\d+\/[\w-]{30}\/[\w-]{43}$/))
        let line = try await daemon.pair("--url", "127.0.0.1:\(daemon.port)")
        #expect(line.hasPrefix("ubiquity://127.0.0.1:\(daemon.port)/"))
        let joined = try await device.patiently("join", line)
        #expect(joined.status == 0, "\(joined.errors)")
        await daemon.stop()
    }

    @Test("a device that was paired with --admin removes another over TLS")
    func administrator() async throws {
        try await withDaemon { daemon, device in
            let line = try await daemon.pair("--name", "desk", "--admin", "--trusted")
            let joined = try await device.patiently("join", line)
            #expect(joined.text.contains("allowed to: read, write, admin"), "\(joined.errors)")
            #expect(try await daemon.home.run("kvsd", ["device", "add", "lost", "--json"]).status == 0)
            #expect(try daemon.content("devices.json").contains("\"trusted\" : true"))
            let removed = try await device.patiently("device", "remove", "lost")
            #expect(removed.status == 0, "\(removed.errors)")
            #expect(try !daemon.content("devices.json").contains("lost"))

            let other = try TemporaryHome()
            defer { other.remove() }
            let made = try await device.patiently("pair", "--name", "wall", "--read-only")
            #expect(made.status == 0, "\(made.errors)")
            #expect(
                made.text.components(separatedBy: "/").last
                    == line.components(separatedBy: "/").last.map { $0 + "\n" })
            let paired = try await other.patiently("join", made.text)
            #expect(paired.text.contains("as device wall"), "\(paired.errors)")
            #expect(paired.text.contains("allowed to: read\n"), "\(paired.text)")
            let refused = try await other.patiently("pair")
            #expect(refused.status == 77 && refused.errors.contains("run kvsd pair on the server"))
        }
    }

    @Test("removing a device ends its stream over TLS")
    func removedDevice() async throws {
        try await withDaemon { daemon, device in
            let line = try await daemon.pair("--name", "laptop")
            #expect(try await device.patiently("join", line).status == 0)
            let watch = try RunningProgram(device, "kvs", ["watch"])
            var notes = watch.errors.makeAsyncIterator()
            while let note = await notes.next(), note != "kvs: connected" {}
            #expect(try await daemon.home.run("kvsd", ["device", "remove", "laptop"]).status == 0)
            var rejection = await notes.next()
            while let note = rejection, !note.contains("rejected the token") {
                rejection = await notes.next()
            }
            #expect(rejection != nil)
            watch.interrupt()
            _ = await watch.status()
        }
    }

    @Test("on one machine kvs join needs no argument, but a private directory")
    func oneMachine() async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        let missing = try await home.patiently("join")
        #expect(missing.status == 69 && missing.errors.contains("kvsd serve"), "\(missing.errors)")
        let daemon = try await PairedDaemon(home)
        let directory = home.path + "/.local/share/ubiquity/kvsd"
        chmod(directory, 0o755)
        let open = try await home.patiently("join")
        #expect(open.status == 77 && open.errors.contains("chmod 700"), "\(open.errors)")
        chmod(directory, 0o700)
        let joined = try await home.patiently("join")
        #expect(joined.status == 0, "\(joined.errors)")
        #expect(try await home.patiently("set", "k", "v", "--require-sync").status == 0)
        #expect(try credentials(home)["daemon"] as? String == "unix:" + daemon.path("kvsd.sock"))
        await daemon.stop()
        #expect(!FileManager.default.fileExists(atPath: daemon.path("daemon.json")))
        #expect(!FileManager.default.fileExists(atPath: daemon.path("kvsd.sock")))
    }

    @Test("while the daemon does not run, whoever listens on its port hears nothing")
    func takenPort() async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        let daemon = try await PairedDaemon(home, arguments: [])
        #expect(try await home.patiently("join").status == 0)
        await daemon.stop()

        let impostor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(impostor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(daemon.port).bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var enabled: Int32 = 1
        setsockopt(impostor, SOL_SOCKET, SO_REUSEADDR, &enabled, socklen_t(MemoryLayout<Int32>.size))
        let isBound = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(impostor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        try #require(isBound && listen(impostor, 8) == 0)
        let sync = try await home.patiently("sync")
        #expect(sync.status == 69, "\(sync.errors)")
        #expect(sync.errors.contains("cannot connect to \(daemon.path("kvsd.sock")): no such file"), "\(sync.errors)")
        #expect(sync.errors.contains("is kvsd running?"))
        _ = fcntl(impostor, F_SETFL, O_NONBLOCK)
        #expect(accept(impostor, nil, nil) == -1 && errno == EAGAIN)

        let returned = try await PairedDaemon(home, arguments: [])
        #expect(try await home.patiently("sync").status == 0)
        await returned.stop()
    }

    @Test("kvsd pair without a running daemon names the command that starts it")
    func noDaemon() async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        let outcome = try await home.run("kvsd", ["pair"])
        #expect(outcome.status == 66 && outcome.errors.contains("kvsd serve --listen 0.0.0.0"))
    }
}
