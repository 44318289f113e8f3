import Foundation
import HTTPTypes
import ServerTestSupport
import Testing

/// A page in a browser can use the emulator only if the emulator itself has served it.
@Suite("Web pages and the emulator", .timeLimit(.minutes(5)))
struct BrowserTests {
    private static let paths = [
        "/emulator/v1/worlds", "/v1/me", "/healthz", "/", "/emulator/page.js",
    ]

    /// Sends a request with these lines in its head, which must be answered with the status.
    private func expect(
        _ method: String, _ path: String, _ lines: [String], _ client: EmulatorClient,
        _ status: String, at location: SourceLocation = #_sourceLocation
    ) async throws {
        let connection = try await RawConnection.open(port: client.port)
        try await connection.send(
            "\(method) \(path) HTTP/1.1\r\n"
                + (lines + ["Authorization: Bearer w/d", "Connection: close"]).map { $0 + "\r\n" }.joined() + "\r\n")
        let found = await connection.rest().dropFirst(9).prefix(3)
        #expect(found == status, "\(method) \(path) \(lines)", sourceLocation: location)
    }

    @Test(
        "a name that leads here by a rebound DNS entry is refused",
        arguments: [
            "evil.example", "evil.example:%", "127.0.0.1.evil.example:%", "localhost.evil.example",
            "192.0.2.1:%", "0.0.0.0:%", "[2001:db8::1]:%", "localhost@evil.example", "",
        ])
    func foreignHost(host: String) async throws {
        try await EmulatorClient.run { client in
            let host = host.replacing("%", with: "\(client.port)")
            for path in Self.paths {
                try await expect("GET", path, ["Host: \(host)"], client, "403")
            }
        }
    }

    @Test("this machine's own names are accepted", arguments: ["127.0.0.1", "localhost", "[::1]"])
    func ownHost(name: String) async throws {
        try await EmulatorClient.run { client in
            for host in [name, "\(name):\(client.port)"] {
                try await expect("GET", "/emulator/v1/worlds", ["Host: \(host)"], client, "200")
            }
        }
    }

    @Test("a page of another site, or of another port of this machine, is refused")
    func foreignOrigin() async throws {
        try await EmulatorClient.run { client in
            let host = "Host: 127.0.0.1:\(client.port)"
            for line in [
                "Origin: https://evil.example", "Origin: null", "Origin: http://127.0.0.1:1",
                "Origin: http://localhost:\(client.port)", "Sec-Fetch-Site: cross-site",
                "Sec-Fetch-Site: same-site",
            ] {
                for path in Self.paths {
                    try await expect("GET", path, [host, line], client, "403")
                }
                try await expect("DELETE", "/emulator/v1/worlds", [host, line], client, "403")
            }
            // The preflight of a cross-origin request, which the answer would have to permit.
            try await expect(
                "OPTIONS", "/emulator/v1/worlds", [host, "Access-Control-Request-Method: DELETE"], client, "405")
        }
    }

    @Test("its own page and a typed address are accepted")
    func ownOrigin() async throws {
        try await EmulatorClient.run { client in
            let host = "127.0.0.1:\(client.port)"
            for line in [
                "Origin: http://\(host)", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: none",
            ] {
                try await expect("DELETE", "/emulator/v1/worlds", ["Host: \(host)", line], client, "204")
            }
        }
    }
}
