import Testing

@testable import KVStorePostgreSQL

@Suite("Connection settings")
struct ConnectionSettingsTests {
    private func settings(
        _ options: [String: String], chosen: Set<String> = [], version: Int = 150_000,
        hasUserRootCertificate: Bool = false
    ) -> ConnectionSettings {
        ConnectionSettings(
            options: options, chosen: chosen,
            machine: .init(
                libraryVersion: version, hasUserRootCertificate: hasUserRootCertificate,
                systemCertificates: "/certificates"))
    }

    private func overrides(_ settings: ConnectionSettings, host index: Int = 0) throws -> [String: String] {
        settings.overrides(for: try settings.hosts()[index], applicationName: "tests")
    }

    @Test("another machine is verified", arguments: ["db.example", "10.0.0.1", "127.example", "fd00::1"])
    func remote(_ host: String) throws {
        let found = try overrides(settings(["host": host, "sslmode": "prefer"]))
        #expect(found["sslmode"] == "verify-full")
        #expect(found["sslrootcert"] == "/certificates")
        let newer = try overrides(settings(["host": host], version: 160_000))
        #expect(newer["sslrootcert"] == "system")
    }

    @Test(
        "sockets and loopback addresses need no TLS",
        arguments: ["/run/postgresql", "@name", "127.0.0.1", "127.8.8.8", "::1", "localhost"])
    func local(_ host: String) throws {
        let found = try overrides(settings(["host": host, "sslmode": "prefer"]))
        #expect(found["sslmode"] == nil && found["sslrootcert"] == nil)
        #expect(try overrides(settings([:]))["sslmode"] == nil)
    }

    @Test("the address that is connected to decides, not its name")
    func hostAddress() throws {
        let away = settings(["host": "localhost", "hostaddr": "10.0.0.1"])
        #expect(try overrides(away)["sslmode"] == "verify-full")
        let here = settings(["host": "db.example", "hostaddr": "127.0.0.1"])
        #expect(try overrides(here)["sslmode"] == nil)
    }

    @Test("what the address says stays")
    func chosen() throws {
        let options = [
            "host": "db.example", "sslmode": "prefer", "target_session_attrs": "any",
            "tcp_user_timeout": "1",
        ]
        let found = try overrides(settings(options, chosen: ["sslmode", "target_session_attrs"]))
        #expect(found["sslmode"] == nil && found["target_session_attrs"] == nil)
        #expect(found["tcp_user_timeout"] == nil && found["keepalives_idle"] == "10")
        let service = try overrides(settings(["host": "db.example", "sslmode": "require"]))
        #expect(service["sslmode"] == nil && service["sslrootcert"] == nil)
        #expect(service["target_session_attrs"] == "read-write")
    }

    @Test("root certificates that the user has or names are not replaced")
    func rootCertificates() throws {
        let named = settings(["host": "db.example", "sslrootcert": "/mine"])
        #expect(try overrides(named)["sslrootcert"] == nil)
        let own = settings(["host": "db.example"], hasUserRootCertificate: true)
        #expect(try overrides(own)["sslrootcert"] == nil)
        let verified = settings(["host": "127.0.0.1", "sslmode": "verify-full"])
        #expect(try overrides(verified)["sslrootcert"] == "/certificates")
    }

    @Test("several hosts have one port or as many, and each its own mode")
    func hosts() throws {
        let several = settings(["host": "a.example,/run/b", "port": "1,2"])
        #expect(try several.hosts() == [.init(name: "a.example", port: "1"), .init(name: "/run/b", port: "2")])
        #expect(try overrides(several, host: 0)["sslmode"] == "verify-full")
        #expect(try overrides(several, host: 1)["sslmode"] == nil)
        #expect(try settings(["host": "a,b", "port": "1"]).hosts().map(\.port) == ["1", "1"])
        // libpq would read an empty name as all of them.
        #expect(try overrides(settings(["host": "a.example,"]), host: 1)["sslmode"] == "verify-full")
        #expect(throws: PostgreSQLError.self) {
            try settings(["host": "a,b,c", "port": "1,2"]).hosts()
        }
    }
}
