import Foundation
import StoreTestSupport
import TestSupport
import Testing

private enum Tools {
    static let areThere = ["openssl", "curl", "lego", "pebble"].allSatisfy {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/" + $0)
    }
}

/// The recipe of `docs/certificates.md` for an ACME client, with the test server of Let's Encrypt (Pebble).
@Suite(
    "Certificates by ACME", .timeLimit(.minutes(5)),
    .enabled(
        if: Tools.areThere,
        "needs openssl, curl, pebble and lego; on Debian scripts/bootstrap --tests installs them"))
struct AcmeTests {
    /// The commands of the document between two comments of a name.
    private func recipe(_ name: String) throws -> String {
        let text = try Repository.text("docs/certificates.md")
        let parts = text.components(separatedBy: "<!-- \(name) -->\n```\n")
        try #require(parts.count == 2, "\(name)")
        return try #require(parts[1].components(separatedBy: "```").first)
    }

    /// Starts Pebble, which takes every challenge for met; returns the port of its directory.
    private func startPebble(_ home: TemporaryHome) async throws -> (RunningProgram, port: Int) {
        let port = Int.random(in: 20_000..<30_000)
        let made = try await home.shell(
            """
            cd "$HOME" && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout acme.key \
                -subj /CN=localhost -addext subjectAltName=DNS:localhost -days 2 -out acme.pem 2>/dev/null
            """)
        #expect(made.status == 0)
        try home.file(
            "pebble.json",
            """
            {"pebble": {"listenAddress": "127.0.0.1:\(port)", "managementListenAddress": "127.0.0.1:\(port + 1)",
            "certificate": "\(home.path)/acme.pem", "privateKey": "\(home.path)/acme.key", "httpPort": 1, "tlsPort": 1}}
            """)
        let pebble = try RunningProgram(
            home, "/usr/bin/env",
            [
                "PEBBLE_VA_NOSLEEP=1", "PEBBLE_VA_ALWAYS_VALID=1", "/usr/bin/pebble", "-config",
                home.path + "/pebble.json",
            ])
        var ready = false
        for await line in pebble.output where line.contains("directory available") {
            ready = true
            break
        }
        try #require(ready, "pebble ended")
        return (pebble, port)
    }

    @Test("a name with a certificate for the daemon's own key is trusted, renewed, and unnoticed by paired programs")
    func recipe() async throws {
        var (home, device) = (try TemporaryHome(), try TemporaryHome())
        defer { TemporaryHome.remove(home, device) }
        let first = try await PairedDaemon(home)
        #expect(try await device.kvs("join", try await first.pair()).status == 0)
        let port = first.port
        await first.stop()

        let (pebble, acme) = try await startPebble(home)
        home.variables["LEGO_CA_CERTIFICATES"] = home.path + "/acme.pem"
        let lego = "lego() { command lego --server https://localhost:\(acme)/dir --http.port 127.0.0.1:0 \"$@\"; }\n"
        let issued = try await home.shell("set -e\n" + lego + recipe("issue"))
        try #require(issued.status == 0, "\(issued.errors)")
        let serve = try await home.shell("kvsd() { echo \"$@\"; }\n" + recipe("serve"))
        let arguments = serve.text.split(whereSeparator: \.isWhitespace).map(String.init)
        let options = try #require(arguments.firstIndex(of: "--tls-certificate"))
        let daemon = try await PairedDaemon(home, port: port, arguments: Array(arguments[options...]))

        func serial() async throws -> String {
            let handshake = try await home.shell(
                """
                openssl s_client -connect 127.0.0.1:\(port) </dev/null 2>/dev/null | openssl x509 -noout -serial
                """)
            return handshake.text
        }
        let trusted = try await home.shell(
            """
            curl -sfk https://127.0.0.1:\(acme + 1)/roots/0 > "$HOME/root.pem" &&
            openssl s_client -connect 127.0.0.1:\(port) -CAfile "$HOME/root.pem" -verify_return_error \
                -verify_hostname box.example.org </dev/null
            """)
        #expect(trusted.status == 0, "\(trusted.text)")
        let set = ["set", "k", "v", "--require-sync", "--timeout", "120"]
        #expect(try await device.run("kvs", set).status == 0)

        let former = try await serial()
        // Those of Pebble are valid for five years.
        let command = try recipe("renew").replacing("--days 30", with: "--days 3650")
        let renewed = try await home.shell("set -e\n" + lego + command)
        #expect(renewed.status == 0, "\(renewed.errors)")
        #expect(try await serial() != former)
        #expect(try await device.run("kvs", set).status == 0)
        #expect(await daemon.stop().contains("certificate reloaded"))
        pebble.interrupt()
    }
}
